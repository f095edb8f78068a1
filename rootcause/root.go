package rootcause

import "slices"

// step is one station of the way from what was noticed back to where it began:
// the first bad frame of a run of bad frames.
type step struct {
	f      *field // nil when the file holds nothing of the field
	name   string
	row    int // row of the frames, -1 when only the trace shows it
	frame  int // frame or, with row -1, entry of the trace
	env    int // -1: one row for the run, or not known
	col    int
	tick   int64
	count  int64
	class  string
	size   float64 // largest absolute finite value
	before int64   // tick of the last frame that was still fine
}

// onset returns the step as an onset.
func (s *step) onset() onset {
	o := onset{f: s.f, field: s.name, env: s.env, col: s.col, tick: s.tick, count: s.count, class: s.class, envs: 1}
	if s.f != nil {
		o.clock, o.order = s.f.Clock, s.f.Order
	}
	return o
}

// placed reports whether there is a step and the file holds something of its field.
func (s *step) placed() bool { return s != nil && s.f != nil }

// is reports whether a step lies in a field of one of some kinds.
func (s *step) is(kinds ...kind) bool { return s.placed() && slices.Contains(kinds, s.f.kind) }

// findRoot walks from what was noticed first back to its source.
func (c *Case) findRoot() {
	s, ok := c.noticed()
	if !ok {
		return
	}
	for {
		c.chain = append(c.chain, s)
		next, ok := c.cause(&s)
		if !ok {
			break
		}
		s = next
	}
	if s, ok := c.bornBad(&c.chain[len(c.chain)-1]); ok {
		c.chain = append(c.chain, s)
	}
	slices.Reverse(c.chain)
}

// root returns where it began, nil when nothing is wrong or nothing tells.
func (c *Case) root() *step {
	if len(c.chain) == 0 {
		return nil
	}
	return &c.chain[0]
}

// inFrame returns the start of the run of bad frames that frame i of a row
// belongs to. Where the run reaches the first frame of the file, the trace says
// how much further back it goes.
func (c *Case) inFrame(f *field, i, row int) step {
	i = f.begin(i, row, c.cuts(f, row))
	cell := f.cell(i, row)
	s := step{
		f: f, name: f.Name, row: row, frame: i, env: f.env(row), col: int(cell.arg),
		tick: f.frames.Ticks[i], count: tickCount(f.frames.Counts, i),
		class: f.state(i, row), size: cell.max, before: start,
	}
	if cell.bad > 0 {
		s.col = int(cell.first)
	}
	if s.class == negative {
		s.col = f.lowest(i, row)
	}
	if i > 0 {
		s.before = f.frames.Ticks[i-1]
		return s
	}
	if j := f.entryBefore(s.tick); j >= 0 && f.traced(j) != "" && (s.env < 0 || f.argmax(j) == s.env) {
		return f.inTrace(j, s.env)
	}
	return s
}

// inTrace returns the start of the run of bad trace entries that j belongs to.
// An env's run ends where the largest value is another's: that is its own story.
func (f *field) inTrace(j, env int) step {
	for first := f.beginTrace(j); j > first && (env < 0 || f.argmax(j-1) == env || f.argmax(j-1) < 0); {
		j--
	}
	s := step{
		f: f, name: f.Name, row: -1, frame: j, env: f.argmax(j), col: -1,
		tick: f.trace.Ticks[j], count: tickCount(f.trace.Counts, j),
		class: f.traced(j), size: at(f.trace.AbsMax, j), before: start,
	}
	if nonFinite(s.class) {
		s.env = -1
	}
	if f.rows*(f.to-f.from) == 1 {
		s.col = 0
	}
	if j > 0 {
		s.before = f.trace.Ticks[j-1]
	}
	return s
}

// lowest returns the column of the smallest value of a row.
func (f *field) lowest(i, row int) int {
	best := 0
	for col := 1; col < f.to-f.from; col++ {
		if f.at(i, row, col) < f.at(i, row, best) {
			best = col
		}
	}
	return best
}

// argmax returns the env of a trace entry's largest value, -1 when the field
// has one row for the run.
func (f *field) argmax(j int) int {
	if !f.PerEnv || j >= len(f.trace.ArgMax) || !finite(f.trace.ArgMax[j]) {
		return -1
	}
	return int(f.trace.ArgMax[j])
}

// entryBefore returns the last trace entry before tick t, -1 when there is none.
func (f *field) entryBefore(t int64) int {
	if f.trace == nil {
		return -1
	}
	i, _ := slices.BinarySearch(f.trace.Ticks, t)
	return i - 1
}

// inputsKnown reports whether the file records what the root read, at the time,
// and unmasked, so that it is a source and not only a candidate.
func (c *Case) inputsKnown() bool {
	r := c.root()
	if !r.placed() {
		return false
	}
	if _, replaced := c.zeroed(); replaced {
		return false
	}
	needs := loop[r.f.kind].needs
	if len(needs) == 0 {
		return true
	}
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		return slices.Contains(needs, f.kind) && (f.upTo(r.tick) >= 0 || f.entryBefore(r.tick+1) >= 0)
	})
}
