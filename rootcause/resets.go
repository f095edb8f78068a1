package rootcause

import (
	"fmt"
	"math"
	"slices"
)

// again is X4: the same env ran away in earlier episodes too, and no other env
// in the file did.
func (c *Case) again() Feature {
	f := c.velocity()
	if r := c.root(); r.placed() && r.f.kind >= normMean && !nonFinite(r.class) {
		return idle("what runs away is not the physics")
	}
	env, ok := c.focus()
	if f.len() == 0 || !ok {
		return unmeasured("earlier episodes of the env to blame")
	}
	if f.kind == state {
		return unmeasured("qvel by itself: a model beside the dump would divide the state")
	}
	row := f.row(env)
	if row < 0 {
		return unmeasured("earlier episodes of the env to blame")
	}
	runs, episodes := f.runs(row, c.resets[env])
	if episodes < 2 {
		return unmeasured("earlier episodes of the env to blame")
	}
	for r := range f.rows {
		if n, _ := f.runs(r, c.resets[f.env(r)]); r != row && n > 0 {
			return found(no, "other envs in the file ran away as well")
		}
	}
	if runs < 2 {
		return found(no, fmt.Sprintf("env %d was fine in its earlier episodes", env))
	}
	out := found(yes, fmt.Sprintf("env %d ran away in %d of its %d episodes in the file, none of the other %d envs did", env, runs, episodes, f.rows-1))
	if f.rows == 1 {
		out.Text = fmt.Sprintf("env %d ran away in %d of its %d episodes in the file", env, runs, episodes)
	}
	out.Measured, out.Baseline = float64(runs), float64(episodes)
	return out.in(f, env, -1, f.frames.Ticks[0])
}

// unresetToo reports whether most of the rows that went bad in the frame of a step, and
// were fine before, had not been reset since: then no reset did that to them.
func (c *Case) unresetToo(r *step) bool {
	bad, unreset := 0, 0
	for row := range r.f.rows {
		if r.f.state(r.frame, row) == "" || r.f.state(r.frame-1, row) != "" {
			continue
		}
		bad++
		if !cutBetween(c.resets[r.f.env(row)], r.before, r.tick+1) {
			unreset++
		}
	}
	return unreset >= 2 && 2*unreset > bad
}

// runs counts the episodes of a row and those of them in which it ran away. A
// fall by two decades to a healthy size begins an episode too: a reset that
// nobody noted.
func (f *field) runs(row int, resets []int64) (runs, episodes int) {
	episodes, ran := 1, false
	for i := range f.len() {
		cell := f.cell(i, row)
		if i > 0 {
			was := f.cell(i-1, row).max
			dropped := was > f.limit && cell.max <= f.limit && cell.max < was/100 && cell.bad == 0
			if dropped || cutBetween(resets, f.frames.Ticks[i-1], f.frames.Ticks[i]) {
				episodes, ran = episodes+1, false
			}
		}
		if !ran && f.state(i, row) != "" {
			runs, ran = runs+1, true
		}
	}
	return runs, episodes
}

// firstAfter reports whether a runaway lies in the very first record of its env
// after a reset: there was no time to get there.
func (c *Case) firstAfter(r *step) bool {
	v := c.velocity()
	row, i := v.row(r.env), v.upTo(r.tick)
	return v.len() > 0 && row >= 0 && i > 0 && v.frames.Ticks[i] == r.tick && v.cell(i, row).max > v.limit && v.state(i-1, row) == ""
}

// lastBefore returns the last of ascending ticks before t, t when there is none.
func lastBefore(ticks []int64, t int64) int64 {
	if i, _ := slices.BinarySearch(ticks, t); i > 0 {
		return ticks[i-1]
	}
	return t
}

// afterReset is X5: the state was bad before any substep of the episode had
// run, or in the first record after a reset with no way up: the reset itself
// left it so.
func (c *Case) afterReset() Feature {
	r := c.root()
	if r == nil || r.row < 0 || !r.is(body...) && !r.is(obs, sensor) {
		return idle("nothing that a reset writes went bad first")
	}
	if c.allAtOnce(r) {
		return unmeasured("what came before the first frame")
	}
	if nonFinite(r.class) && slices.Contains(c.before, r.f) {
		return found("written", fmt.Sprintf("%s%s is %s in the state before a step: it was written between two steps, by a reset or an event, not by the physics",
			r.f.label(r.col), inEnv(r.env), words[r.class])).in(r.f, r.env, r.col, r.tick)
	}
	if f, ok := c.windsUp(r); ok {
		return idle("what drives the env was not reset: " + f.Text)
	}
	if f, ok := c.seenAfterReset(r); ok {
		return f
	}
	resets := c.resets[r.env]
	if len(resets) == 0 {
		return unmeasured("a reset of the env")
	}
	until := r.tick
	if !r.f.kind.isBody() {
		until++ // an observation is made after the reset of its own tick
	}
	if r.frame > 0 && cutBetween(resets, r.before, until) && c.unresetToo(r) {
		return idle(fmt.Sprintf("env %d was just reset, and others that were not went bad in the same frame", r.env))
	}
	if r.frame > 0 && cutBetween(resets, r.before, until) && (nonFinite(r.class) || r.class == huge || r.f.kind.isBody() && c.firstAfter(r)) {
		f := found(yes, fmt.Sprintf("%s of env %d is %s in its first record after a reset", r.name, r.env, words[r.class])).in(r.f, r.env, r.col, r.tick)
		if r.f.kind.isBody() && !nonFinite(r.class) && c.firstAfter(r) {
			f.Value, f.Text = "wild", f.Text+": there was no time to get there"
		}
		if !r.f.kind.isBody() && c.shown(body, r) {
			f.Value, f.Text = "obs", f.Text+", and the state that the reset left is fine"
		}
		return f
	}
	if n := r.f.frames.Counts; r.frame > 0 && len(n) > r.frame && n[r.frame] == n[r.frame-1] {
		return found(yes, fmt.Sprintf("%s of env %d is %s right after a reset, before the next substep", r.name, r.env, words[r.class])).in(r.f, r.env, r.col, r.tick)
	}
	if t := r.f.frames.Ticks; r.first() && resets[len(resets)-1] < t[0] || t[0] > lastBefore(resets, r.tick) {
		return unmeasured("the env's last reset: the record begins after it")
	}
	if f := c.bornInside(); f.Value == yes {
		return idle("its reset left the env inside something solid")
	}
	return found(no, fmt.Sprintf("env %d came out of its last reset with a healthy state", r.env))
}

// seenAfterReset finds the observation that was made of what a reset left, before
// any substep ran on it: where that is out of all proportion, the reset wrote it.
func (c *Case) seenAfterReset(r *step) (Feature, bool) {
	v := c.velocity()
	resets := c.resets[r.env]
	at := lastBefore(resets, r.tick)
	if !r.f.kind.isBody() || v.len() == 0 || len(resets) == 0 || at >= r.tick {
		return Feature{}, false
	}
	for _, f := range c.fields {
		row, i := f.row(r.env), f.upTo(r.tick)
		if f.kind != obs || f.len() == 0 || row < 0 || i < 1 || f.frames.Ticks[i] < at {
			continue
		}
		if k := v.upTo(f.frames.Ticks[i]); k < 0 || v.frames.Ticks[k] > at || !c.risenResets(f, row, i, r) && (f.state(i, row) == "" || f.state(i-1, row) != "") {
			continue
		}
		cell := f.cell(i, row)
		what := words[f.state(i, row)]
		if cell.bad == 0 {
			what = fmt.Sprintf("%s (healthy: %s)", num(cell.max), num(f.base))
		}
		return found("seen", fmt.Sprintf("%s of env %d is %s in the observation made right after its reset, before any substep: the reset left it so",
			f.column(int(cell.arg)), r.env, what)).in(f, r.env, int(cell.arg), f.frames.Ticks[i]), true
	}
	return Feature{}, false
}

// The bounds of resets that begin wilder and wilder: how many earlier ones, and how many
// times the first of them, and how large at least, the observation of what the last one left is.
const (
	resetsBefore = 2
	wilderBegin  = 30.0
)

// risenResets reports whether the observation in frame i, made of what a reset left, is far
// above that of the first of the earlier resets of its env, each of which was larger than the one before,
// and the physics was bad in its very first record after it.
func (c *Case) risenResets(f *field, row, i int, r *step) bool {
	var begun []float64
	for _, t := range c.resets[r.env] {
		if k := f.upTo(t) + 1; k < i && f.cell(k, row).bad == 0 {
			if n := len(begun); n > 0 && f.cell(k, row).max <= begun[n-1] {
				return false
			}
			begun = append(begun, f.cell(k, row).max)
		}
	}
	is := f.cell(i, row)
	return len(begun) >= resetsBefore && is.bad == 0 && is.max > begun[len(begun)-1] && is.max > math.Max(wilderBegin*begun[0], 2*excited) && cutBetween(c.resets[r.env], r.before, r.tick)
}
