package rootcause

import (
	"math"
	"slices"
)

// The values of a yes/no feature. F1 and F8 have values of their own.
const (
	yes     = "yes"
	no      = "no"
	unknown = "unknown"
)

// Feature is one measured property of a case. Unknown is not evidence: it adds
// nothing for or against any cause.
type Feature struct {
	ID       FeatureID          // F1..F15 as in docs/causes.md, X1.. for the rest
	Value    string             // "yes", "no", "unknown", or the class of F1 and F8
	Text     string             // the fact in words; for unknown, what was not recorded
	Measured float64            // the statistic, 0 where the feature is no number
	Baseline float64            // what it was compared with
	Base     float64            // base rate among healthy envs, 0 where none is used
	Half     bool               // what the root read is not recorded: worth half
	Hidden   map[string]float64 // F1: stages that were not recorded and in which it may have begun, with weights
	Recorded bool               // unknown although its inputs are there: nothing to judge
	Field    string
	Env      int // -1: none
	Col      int
	Column   string
	Tick     *int64
}

// known reports whether the feature says anything.
func (f *Feature) known() bool { return f.Value != unknown }

// is reports whether a feature has one of some values.
func (f *Feature) is(values ...string) bool { return slices.Contains(values, f.Value) }

// measureFeatures measures every rule once.
func (c *Case) measureFeatures() {
	for _, r := range rules {
		f := r.measure(c)
		f.ID = r.id
		if f.Value == "" {
			f.Value = unknown
		}
		c.features = append(c.features, f)
	}
}

// feature returns a measured feature by id.
func (c *Case) feature(id FeatureID) *Feature {
	for i := range c.features {
		if c.features[i].ID == id {
			return &c.features[i]
		}
	}
	return &Feature{ID: id, Value: unknown, Env: -1}
}

// Features returns the measured features, in the order of docs/causes.md.
func (c *Case) Features() []Feature { return c.features }

// coverage returns the share of F1 to F15 whose inputs are recorded.
func (c *Case) coverage() float64 {
	n := 0
	for i := range c.features {
		if f := &c.features[i]; f.ID[0] == 'F' && (f.known() || f.Recorded) {
			n++
		}
	}
	return float64(n) / 15
}

// unmeasured returns an unknown feature that says what was not recorded.
func unmeasured(what string) Feature {
	return Feature{Value: unknown, Text: "not recorded: " + what, Env: -1}
}

// idle returns an unknown feature whose inputs are recorded: there was nothing
// to judge by it.
func idle(why string) Feature { return Feature{Value: unknown, Text: why, Env: -1, Recorded: true} }

// unblamed returns an unknown feature for want of an env to judge: idle when no
// env is to blame, unmeasured when the field or its rows are missing.
func (c *Case) unblamed(f *field, what string) Feature {
	switch {
	case f.len() > 0 && c.healthy():
		return idle("nothing went wrong: no env stands out whose " + what + " could be compared with that of the others")
	case f.len() > 0 && len(c.culprits) == 0:
		return idle("no env to blame")
	}
	return unmeasured(what + " of the env to blame")
}

// notMeasured returns the measure of a feature that one dump cannot hold.
func notMeasured(text string) func(*Case) Feature {
	return func(*Case) Feature { return unmeasured(text) }
}

// found returns a feature without a place.
func found(value, text string) Feature { return Feature{Value: value, Text: text, Env: -1} }

// in puts the place of a row's column into the feature.
func (f Feature) in(g *field, env, col int, tick int64) Feature {
	f.Field, f.Env, f.Tick = g.Name, env, &tick
	if col >= 0 {
		f.Col, f.Column = g.from+col, g.column(col)
	}
	return f
}

// onset puts the place of an onset into the feature.
func (f Feature) onset(o *onset) Feature {
	f.Field, f.Env, f.Tick = o.field, o.env, &o.tick
	if o.f != nil && o.col >= 0 {
		f.Col, f.Column = o.f.from+o.col, o.f.column(o.col)
	}
	return f
}

// deadline returns the tick before which evidence counts: that of the first
// non-finite value, or the end of the file.
func (c *Case) deadline() int64 {
	if c.tripped != nil {
		return c.tripped.tick
	}
	last := int64(0)
	for _, f := range c.fields {
		if n := f.len(); n > 0 {
			last = max(last, f.frames.Ticks[n-1])
		}
	}
	return last + 1
}

// beginning returns the tick at which it began: the root's, else the deadline.
func (c *Case) beginning() int64 {
	if r := c.root(); r != nil {
		return r.tick
	}
	return c.deadline()
}

// window returns the frames of f with ticks in [from, to), at most n of them,
// the last ones.
func (f *field) window(from, to int64, n int) (lo, hi int) {
	hi = f.upTo(to-1) + 1
	lo = max(f.upTo(from-1)+1, hi-n)
	return min(lo, hi), hi
}

// decimation returns how many substeps make an env step, 1 when not known.
func (c *Case) decimation() int {
	if v, ok := c.fact("sim.decimation"); ok && v >= 1 {
		return int(v)
	}
	return 1
}

// lastReset returns the tick after the last reset of env before t, or the start of time.
func (c *Case) lastReset(env int, t int64) int64 {
	if r := lastBefore(c.resets[env], t); r < t {
		return r + 1
	}
	return start
}

// start is a tick before every other, far enough from the end of the range for
// arithmetic.
const start = math.MinInt64 / 2
