package rootcause

import (
	"fmt"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// normalizerWords are in the names of the parts of a checkpoint that belong to a
// normalizer of observations, as the usual libraries call them.
var normalizerWords = []string{"normaliz", "running_mean", "running_var", "running_std", "obs_rms", "obs_stat"}

// leftOut finds a checkpoint that was loaded without statistics of the normalizer,
// by what the loading itself noted, in the two env steps before it all began. A run
// that goes on well after it may have been given a new normalizer on purpose.
func (c *Case) leftOut() (Feature, bool) {
	if c.root() == nil {
		return Feature{}, false
	}
	from := c.stepsBefore(c.beginning(), 2)
	for _, e := range c.man.Events {
		detail, ok := e.Detail.(map[string]any)
		if e.Kind != dump.EventCheckpointLoaded || !ok || e.Tick < from || e.Tick > c.beginning() {
			continue
		}
		for _, key := range names(detail["missing_keys"]) {
			if !about(key, normalizerWords...) {
				continue
			}
			f := found(yes, fmt.Sprintf("checkpoint %s was loaded at tick %d without %s, which it did not hold: the normalizer went on with what the load left there", e.Name, e.Tick, key))
			f.Tick = &e.Tick
			return f, true
		}
	}
	return Feature{}, false
}

// names returns the strings of a list in an event's detail.
func names(v any) []string {
	switch list := v.(type) {
	case []string:
		return list
	case []any:
		var out []string
		for _, x := range list {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// wiped finds a variance whose columns, which differed, all became one and the same
// number from one record to the next: a running variance moves by a share of one
// over its count, in each column by what that column saw. It needs as many columns
// as statistics that changed places do.
func (c *Case) wiped() (Feature, bool) {
	v := c.first(normVar)
	if v.len() < 2 || v.to-v.from < swapColumns || v.rows != 1 {
		return Feature{}, false
	}
	for i := 1; i < v.len() && v.frames.Ticks[i] < c.beginning(); i++ {
		if c.meantTo(v.frames.Ticks[i-1], v.frames.Ticks[i]) {
			continue
		}
		now, alike := v.uniform(i)
		if _, before := v.uniform(i - 1); !alike || before || v.varied(i-1) < swapColumns {
			continue
		}
		f := found(yes, fmt.Sprintf("all %d columns of %s became %s at tick %d%s: what the normalizer had seen is gone", v.to-v.from, v.Name, num(now), v.frames.Ticks[i], c.loadedThere(v, i)))
		f.Measured = now
		return f.in(v, -1, 0, v.frames.Ticks[i]), true
	}
	return Feature{}, false
}

// uniform returns the first value of a frame, and whether all are finite and equal it.
func (f *field) uniform(i int) (v float64, alike bool) {
	v = f.at(i, 0, 0)
	for col := range f.to - f.from {
		if x := f.at(i, 0, col); x != v || !finite(x) {
			return v, false
		}
	}
	return v, true
}

// varied counts the different values above zero in a frame.
func (f *field) varied(i int) int {
	var seen []float64
	for col := range f.to - f.from {
		if x := f.at(i, 0, col); x > 0 && finite(x) && !slices.Contains(seen, x) {
			seen = append(seen, x)
		}
	}
	return len(seen)
}
