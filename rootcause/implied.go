package rootcause

import "math"

// impliedInput concludes that an observation was bad before its first frame in
// the file: a network whose output is non-finite in some envs and finite in
// others has finite weights, so what it read in those envs was bad. The first
// frame after it says which observation and column.
func (c *Case) impliedInput(s *step) (step, bool) {
	if !s.is(mean, value) || !nonFinite(s.class) || s.row < 0 || !s.someFinite() {
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

// contamination finds the env whose raw observation spoiled a normalizer that
// is not recorded: every env's normalized observation is non-finite one step
// after one env's raw observation was.
func (c *Case) contamination(s *step) (step, bool) {
	if !s.is(obsNorm, mean, action) || !nonFinite(s.class) {
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

// ownAction finds the action that a bad control was made from where a loop
// captures everything once per step: then the policy's outputs share a tick with
// the physics that they drove, and the order of the loop puts them behind it.
func (c *Case) ownAction(s *step) (step, bool) {
	if s.f.kind != ctrl || s.row < 0 || !nonFinite(s.class) {
		return step{}, false
	}
	for _, f := range c.fields {
		if f.kind != action && f.kind != mean {
			continue
		}
		i, row := f.upTo(s.tick), f.row(s.env)
		if i >= 0 && row >= 0 && f.frames.Ticks[i] == s.tick && f.cell(i, row).bad > 0 {
			return c.inFrame(f, i, row), true
		}
	}
	return step{}, false
}

// closes reports whether a step leads back into a loop that was already walked:
// the physics of a tick whose controls are on the way.
func (c *Case) closes(in *step) bool {
	for i := range c.chain {
		if s := &c.chain[i]; s.f != nil && s.f.kind == ctrl && in.f.kind.isBody() && in.tick >= s.tick {
			return true
		}
	}
	return false
}

// echoFor is how many frames a column of an observation must agree with one of the
// action to be its echo, and echoExact in how many it must do so bit for bit, at another
// number each time, where the file holds fewer: no sensor reads what was commanded to
// the last bit.
const (
	echoFor   = 20
	echoExact = 8
)

// echoed finds the action that a finite observation which runs away only repeats:
// many policies see their own last action. What grows there is the action, however
// ordinary its size is so far.
func (c *Case) echoed(s *step) (step, bool) {
	if !s.is(obs) || nonFinite(s.class) || s.row < 0 || s.col < 0 {
		return step{}, false
	}
	for _, a := range c.fields {
		row := a.row(s.env)
		if a.kind != action || a.len() < echoExact || !a.PerEnv || row < 0 {
			continue
		}
		for col := range a.to - a.from {
			if !s.f.repeats(a, s, row, col) && !s.f.repeatsBits(a, s, row, col) {
				continue
			}
			i := a.upTo(s.tick)
			in := c.inFrame(a, i, row)
			if in.class == "" {
				in.class = growing
			}
			return in, earlier(&in, s)
		}
	}
	return step{}, false
}

// repeats reports whether the column of an observation in which a step lies held
// the last value of a column of actions in each of the frames up to the step.
func (f *field) repeats(a *field, s *step, row, col int) bool {
	n, differ, last := 0, false, math.NaN()
	for i := s.frame; i >= 0; i-- {
		k := a.upTo(f.frames.Ticks[i])
		if k < 0 {
			break
		}
		v, w := f.at(i, s.row, s.col), a.at(k, row, col)
		if v == 0 && i < s.frame {
			continue // reset: there was no last action
		}
		if math.Abs(v-w) > 1e-5*math.Abs(w) {
			return false
		}
		differ = differ || n > 0 && v != last
		n, last = n+1, v
	}
	return n >= echoFor && differ
}

// repeatsBits reports whether the column of an observation in which a step lies held the
// last value of a column of actions in all frames of the file, before the step and after
// it, bit for bit.
func (f *field) repeatsBits(a *field, s *step, row, col int) bool {
	n, last := 0, math.NaN()
	for i := range f.len() {
		k := a.upTo(f.frames.Ticks[i])
		v := f.at(i, s.row, s.col)
		if k < 0 || v == 0 && i != s.frame {
			continue // reset: there was no last action
		}
		if v != a.at(k, row, col) || !finite(v) || a.frames.Ticks[k] == f.frames.Ticks[i] {
			return false
		}
		if v != last {
			n++
		}
		last = v
	}
	return n >= echoExact
}
