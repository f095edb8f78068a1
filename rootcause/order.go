package rootcause

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// onset is the first bad value of one field.
type onset struct {
	f     *field // nil when the file holds nothing of the field
	field string
	env   int // -1: one row for the run, or not known
	col   int
	tick  int64
	count int64
	clock dump.Clock
	order float64
	class string
	envs  int // envs that were bad in that frame
}

// public returns the onset as it stands in a diagnosis.
func (o *onset) public() Onset {
	p := Onset{
		Field: o.field, Env: envPtr(o.env), Col: o.col, Tick: o.tick, Count: o.count,
		Clock: string(o.clock), Class: o.class, Envs: o.envs,
	}
	if o.f != nil && o.col >= 0 {
		p.Col = o.f.from + o.col
		p.Column = o.f.column(o.col)
	}
	p.Col = max(p.Col, 0)
	return p
}

// envPtr returns a pointer for JSON, nil for no env.
func envPtr(env int) *int {
	if env < 0 {
		return nil
	}
	return &env
}

// findOrder makes the table of first bad values: what the manifest says, which
// covers all envs of the run, checked against the frames, and what only the
// frames or traces show.
func (c *Case) findOrder() {
	listed := map[string]bool{}
	for _, b := range c.man.FirstBad {
		o := c.fromManifest(b)
		if o.onlyMasked() {
			continue // what else is bad in it is in the frames
		}
		listed[b.Field] = true
		if o.f != nil {
			c.crossCheck(&o)
		}
		c.order = append(c.order, o)
	}
	for _, f := range c.fields {
		if listed[f.Name] {
			continue
		}
		o, ok := f.firstBad()
		if !ok {
			continue
		}
		if len(c.man.FirstBad) > 0 || c.man.Trip != nil {
			c.warnf("field %s: the frames are not finite at tick %d, and the dump's own first_bad table does not list it", f.Name, o.tick)
		}
		c.order = append(c.order, o)
	}
	slices.SortStableFunc(c.order, func(a, b onset) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.order, b.order))
	})
	c.findTrip()
}

// findTrip chooses the trip: the manifest's, or the first bad value of a field
// that something reads. What only a monitor saw is a warning.
func (c *Case) findTrip() {
	if t := c.man.Trip; t != nil {
		o := c.fromManifest(dump.FirstBad{
			Field: t.Field, Tick: t.Tick, Clock: t.Clock, Count: t.Count,
			Env: t.Env, Col: t.Col, Class: t.Class, EnvsBad: 1,
		})
		for _, b := range c.order {
			if b.field == t.Field && b.tick == t.Tick {
				o.envs = b.envs
			}
		}
		if !o.onlyMasked() {
			c.tripped = &o
			return
		}
	}
	for i := range c.order {
		if f := c.order[i].f; f == nil || f.kind != monitor {
			c.tripped = &c.order[i]
			return
		}
	}
	if len(c.order) > 0 {
		c.warnf("%s is not finite, and nothing reads it", c.order[0].field)
	}
}

// fromManifest turns an entry of the manifest's table into an onset.
func (c *Case) fromManifest(b dump.FirstBad) onset {
	o := onset{
		f: c.byName[b.Field], field: b.Field, env: -1, col: b.Col, tick: b.Tick,
		count: b.Count, clock: b.Clock, class: b.Class, envs: b.EnvsBad,
	}
	if b.Env != nil {
		o.env = *b.Env
	}
	for i := range c.man.Fields {
		if c.man.Fields[i].Name == b.Field {
			o.order = c.man.Fields[i].Order
		}
	}
	return o
}

// firstBad finds the first non-finite value of a field in its frames and its
// trace, which reaches further back and covers all envs.
func (f *field) firstBad() (onset, bool) {
	o := onset{f: f, field: f.Name, env: -1, clock: f.Clock, order: f.Order}
	found := false
	for i := 0; i < f.len() && !found; i++ {
		if found = f.fill(i, &o); found {
			o.tick, o.count = f.frames.Ticks[i], tickCount(f.frames.Counts, i)
		}
	}
	for j := 0; f.trace != nil && j < len(f.trace.Ticks); j++ {
		t := f.trace.Ticks[j]
		if found && t >= o.tick {
			break
		}
		if class := f.traced(j); nonFinite(class) {
			o.env, o.col, o.envs = -1, 0, 1
			o.tick, o.count, o.class = t, tickCount(f.trace.Counts, j), class
			return o, true
		}
	}
	return o, found
}

// fill fills o from the non-finite rows of a frame, the lowest env first.
func (f *field) fill(i int, o *onset) bool {
	o.envs = 0
	for row := range f.rows {
		c := f.cell(i, row)
		if c.bad == 0 {
			continue
		}
		if env := f.env(row); o.envs == 0 || env < o.env {
			o.env, o.col, o.class = env, int(c.first), c.class.String()
		}
		o.envs++
	}
	return o.envs > 0
}

// crossCheck compares an entry of the manifest's table with the frames, where
// the file holds the frame and the env that it names.
func (c *Case) crossCheck(o *onset) {
	f := o.f
	if seen, ok := f.firstBad(); ok && seen.tick < o.tick {
		c.warnf("field %s: the dump says that it went bad at tick %d, its frames are not finite from tick %d on", o.field, o.tick, seen.tick)
		return
	}
	i, row := f.upTo(o.tick), f.row(o.env)
	if i < 0 || row < 0 || row >= f.rows || f.frames.Ticks[i] != o.tick {
		return
	}
	cell := f.cell(i, row)
	switch {
	case cell.bad == 0:
		c.warnf("field %s: the dump says that env %d went bad at tick %d, the frame of that tick is finite", o.field, o.env, o.tick)
	case int(cell.first) != o.col || cell.class.String() != o.class:
		c.warnf("field %s: the dump says column %d is %s at tick %d, the frame shows column %d as %s",
			o.field, o.col, o.class, o.tick, cell.first, cell.class)
	}
}

// nonFinite reports whether a class is one of tensor's.
func nonFinite(class string) bool {
	return class == tensor.NaN.String() || class == tensor.PosInf.String() || class == tensor.NegInf.String()
}

// tickCount returns counts[i], 0 when the file lacks it.
func tickCount(counts []int64, i int) int64 {
	if i >= len(counts) {
		return 0
	}
	return counts[i]
}

// warnf adds a warning.
func (c *Case) warnf(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}
