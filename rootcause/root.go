package rootcause

import (
	"math"
	"slices"
)

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
		class: f.state(i, row), size: cell.max, before: math.MinInt64,
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
		return f.inTrace(j)
	}
	return s
}

// inTrace returns the start of the run of bad trace entries that j belongs to.
func (f *field) inTrace(j int) step {
	j = f.beginTrace(j)
	s := step{
		f: f, name: f.Name, row: -1, frame: j, env: f.argmax(j), col: -1,
		tick: f.trace.Ticks[j], count: tickCount(f.trace.Counts, j),
		class: f.traced(j), size: at(f.trace.AbsMax, j), before: math.MinInt64,
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

// cause returns the earliest bad value among what a step read. There is none
// when the step is a source.
func (c *Case) cause(s *step) (step, bool) {
	if s.f == nil {
		return step{}, false
	}
	var best step
	found := false
	for _, k := range s.reads() {
		for _, g := range c.fields {
			if g.kind != k || g == s.f {
				continue
			}
			if in, ok := c.badInput(s, g); ok && (!found || earlier(&in, &best)) {
				best, found = in, true
			}
		}
	}
	if found {
		return best, true
	}
	if in, ok := c.impliedRaw(s); ok {
		return in, true
	}
	if in, ok := c.impliedInput(s); ok {
		return in, true
	}
	return c.contamination(s)
}

// impliedInput concludes that an observation was bad before its first frame in
// the file: a network whose output is non-finite in some envs and finite in
// others has finite weights, so what it read in those envs was bad. The first
// frame after it says which observation and column.
func (c *Case) impliedInput(s *step) (step, bool) {
	if s.f.kind != mean && s.f.kind != value || !nonFinite(s.class) || s.row < 0 || !s.someFinite() {
		return step{}, false
	}
	for _, f := range c.fields {
		row := f.row(s.env)
		if f.kind != obs && f.kind != obsNorm || f.len() == 0 || row < 0 || f.upTo(s.tick) >= 0 {
			continue
		}
		if cell := f.cell(0, row); cell.bad > 0 {
			return step{f: f, name: f.Name, row: -1, env: s.env, col: int(cell.first), tick: s.tick, count: s.count, class: cell.class.String(), before: s.before}, true
		}
	}
	return step{}, false
}

// someFinite reports whether a step's frame is finite in some env of the run.
func (s *step) someFinite() bool {
	for row := range s.f.rows {
		if s.f.cell(s.frame, row).bad == 0 {
			return true
		}
	}
	j := s.f.entryBefore(s.tick + 1)
	return j >= 0 && s.f.trace.Ticks[j] == s.tick && at(s.f.trace.AbsMax, j) > 0
}

// impliedRaw concludes that a raw observation was bad although its frame is not
// in the file: a normalizer whose statistics are finite and positive makes
// nothing non-finite out of a finite column.
func (c *Case) impliedRaw(s *step) (step, bool) {
	v := c.first(normVar)
	if s.f.kind != obsNorm || !nonFinite(s.class) || s.row < 0 || v.len() == 0 || v.width != s.f.width {
		return step{}, false
	}
	i := v.upTo(s.tick)
	if i < 0 || !(v.at(i, 0, s.col) > 0) || !finite(v.at(i, 0, s.col)) {
		return step{}, false
	}
	for _, f := range c.fields {
		if f.kind == obs && f.width == s.f.width && f.upTo(s.tick) < 0 {
			return step{f: f, name: f.Name, row: -1, env: s.env, col: s.col, tick: s.tick, count: s.count, class: s.class, before: s.before}, true
		}
	}
	return step{}, false
}

// reads returns the kinds that can have made a step bad. A raw std drifts below
// zero by small updates of the optimizer: no large loss explains that, since the
// optimizer divides the size of the gradient out.
func (s *step) reads() []kind {
	if s.class == negative && (s.f.kind == std || s.f.kind == paramStd) {
		return []kind{paramStd, lr}
	}
	return loop[s.f.kind].reads
}

// earlier orders steps by tick, then by place in the loop.
func earlier(a, b *step) bool {
	if a.tick != b.tick {
		return a.tick < b.tick
	}
	return a.f.Order < b.f.Order
}

// badInput looks for a bad value of g that s can have read: in the frames since
// s was last fine, and in the last frame before it.
func (c *Case) badInput(s *step, g *field) (step, bool) {
	since := s.before
	if s.f.kind.isLearner() {
		since = c.rollout(s)
	}
	var best step
	found := false
	for _, row := range c.rowsFor(s, g) {
		if i, ok := g.badIn(row, since, s); ok {
			in := c.inFrame(g, i, row)
			if earlier(&in, s) && (!found || earlier(&in, &best)) {
				best, found = in, true
			}
		}
	}
	if found || len(c.rowsFor(s, g)) > 0 && s.env >= 0 && g.frames.Ticks[0] <= s.tick {
		return best, found
	}
	return g.badTrace(since, s)
}

// rowsFor returns the rows of g that a step can have read: its own env's, or
// all of them when the step belongs to the whole run.
func (c *Case) rowsFor(s *step, g *field) []int {
	if g.len() == 0 {
		return nil
	}
	if s.env >= 0 || !g.PerEnv {
		if row := g.row(s.env); row >= 0 && row < g.rows {
			return []int{row}
		}
		return nil
	}
	rows := make([]int, g.rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// badIn returns the last bad frame of a row with a tick in (since, s.tick], or
// the last frame before s when that one is bad.
func (f *field) badIn(row int, since int64, s *step) (int, bool) {
	last := f.upTo(s.tick)
	for last >= 0 && f.frames.Ticks[last] == s.tick && f.Order >= s.f.Order {
		last--
	}
	for i := last; i >= 0 && (i == last || f.frames.Ticks[i] > since); i-- {
		if f.state(i, row) != "" || s.magnifies() && f.cell(i, row).max > math.Max(20*f.base, f.limit/30) {
			return i, true
		}
	}
	return 0, false
}

// magnifies reports whether a step is a reward that is large and finite: it may
// be the square or the exponential of something that has not run away so far.
func (s *step) magnifies() bool {
	return (s.f.kind == term || s.f.kind == reward) && !nonFinite(s.class)
}

// badTrace is badInput on the trace: where frames do not reach back far enough,
// or the env is not in the file.
func (f *field) badTrace(since int64, s *step) (step, bool) {
	last := f.entryBefore(s.tick)
	if f.trace != nil && f.Order < s.f.Order {
		last = f.entryBefore(s.tick + 1)
	}
	for j := last; j >= 0 && (j == last || f.trace.Ticks[j] > since); j-- {
		if f.traced(j) == "" || s.env >= 0 && f.argmax(j) >= 0 && f.argmax(j) != s.env {
			continue
		}
		if in := f.inTrace(j); earlier(&in, s) {
			return in, true
		}
	}
	return step{}, false
}

// rollout returns the tick since when the data that a learner's step used were
// gathered: that of the last learner frame before the env steps before s.
func (c *Case) rollout(s *step) int64 {
	ticks := s.ticks()
	i := min(s.frame, len(ticks)-1)
	for i > 0 && !cutBetween(c.envSteps, ticks[i-1], ticks[i]) {
		i--
	}
	if i <= 0 {
		return math.MinInt64
	}
	return ticks[i-1]
}

// ticks returns the ticks of the series that the step lies in.
func (s *step) ticks() []int64 {
	switch {
	case s.row >= 0:
		return s.f.frames.Ticks
	case s.f.trace != nil:
		return s.f.trace.Ticks
	}
	return nil
}

// contamination finds the env whose raw observation spoiled a normalizer that
// is not recorded: every env's normalized observation is non-finite one step
// after one env's raw observation was.
func (c *Case) contamination(s *step) (step, bool) {
	if s.f.kind != obsNorm && s.f.kind != mean && s.f.kind != action || !nonFinite(s.class) {
		return step{}, false
	}
	if c.first(normMean, normVar) != nil {
		return step{}, false
	}
	var best step
	found := false
	for _, g := range c.fields {
		if g.kind != obs {
			continue
		}
		for row := range g.rows {
			i := g.upTo(s.tick - 1)
			if i < 0 || g.cell(i, row).bad == 0 {
				continue
			}
			if in := c.inFrame(g, i, row); earlier(&in, s) && (!found || earlier(&in, &best)) {
				best, found = in, true
			}
		}
	}
	return best, found
}

// inputsKnown reports whether the file records what the root read, so that it
// is a source and not only a candidate.
func (c *Case) inputsKnown() bool {
	r := c.root()
	if r == nil || r.f == nil {
		return false
	}
	needs := loop[r.f.kind].needs
	if len(needs) == 0 {
		return true
	}
	return slices.ContainsFunc(c.fields, func(f *field) bool { return slices.Contains(needs, f.kind) })
}
