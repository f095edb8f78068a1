package rootcause

import "math"

// cause returns the earliest bad value among what a step read. There is none
// when the step is a source.
func (c *Case) cause(s *step) (step, bool) {
	if s.f == nil {
		return step{}, false
	}
	var best step
	found := false
	for _, k := range append(s.heard(), s.reads()...) {
		for _, g := range c.fields {
			if g.kind != k || g == s.f {
				continue
			}
			if in, ok := c.badInput(s, g); ok && !c.closes(&in) && (!found || earlier(&in, &best)) {
				best, found = in, true
			}
		}
	}
	if found {
		return best, true
	}
	if in, ok := c.ownAction(s); ok {
		return in, true
	}
	if in, ok := c.echoed(s); ok {
		return in, true
	}
	if in, ok := c.impliedRaw(s); ok {
		return in, true
	}
	if in, ok := c.impliedInput(s); ok {
		return in, true
	}
	return c.contamination(s)
}

// reads returns the kinds that can have made a step bad. A raw std drifts below
// zero by small updates of the optimizer: no large loss explains that, since the
// optimizer divides the size of the gradient out.
func (s *step) reads() []kind {
	if s.class == negative && s.is(std, paramStd) {
		return []kind{paramStd, lr}
	}
	if s.is(value) && about(s.f.Name, "return", "advantage", "gae") {
		return append([]kind{reward, term}, loop[value].reads...) // made of rewards, not by the network alone
	}
	return loop[s.f.kind].reads
}

// earlier orders steps by tick, then by place in the loop.
func earlier(a, b *step) bool {
	if a.tick != b.tick {
		return a.tick < b.tick
	}
	return a.f.pos < b.f.pos
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
			if in.class == "" {
				in.class = growing // small beside what magnifies it
			}
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
	return g.everyRow()
}

// badIn returns the last bad frame of a row with a tick in (since, s.tick], or
// the last frame before s when that one is bad.
func (f *field) badIn(row int, since int64, s *step) (int, bool) {
	last := f.upTo(s.tick)
	for last >= 0 && f.frames.Ticks[last] == s.tick && f.pos >= s.f.pos {
		last--
	}
	for i := last; i >= 0 && (i == last || f.frames.Ticks[i] > since); i-- {
		if f.state(i, row) != "" || s.magnifies() && f.cell(i, row).max > math.Max(20*f.base, f.limit/30) {
			return i, true
		}
	}
	return 0, false
}

// magnifies reports whether a step is a reward or a log-probability that is large
// and finite: it may be the square or the exponential of something that has not
// run away so far.
func (s *step) magnifies() bool {
	return s.is(term, reward, logProb) && !nonFinite(s.class)
}

// badTrace is badInput on the trace: where frames do not reach back far enough,
// or the env is not in the file.
func (f *field) badTrace(since int64, s *step) (step, bool) {
	last := f.entryBefore(s.tick)
	if f.trace != nil && f.pos < s.f.pos {
		last = f.entryBefore(s.tick + 1)
	}
	for j := last; j >= 0 && (j == last || f.trace.Ticks[j] > since); j-- {
		if f.traced(j) == "" || s.env >= 0 && f.argmax(j) >= 0 && f.argmax(j) != s.env {
			continue
		}
		if in := f.inTrace(j, s.env); earlier(&in, s) {
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
		return start
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
