package rootcause

import "fmt"

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
		if k := v.upTo(f.frames.Ticks[i]); k < 0 || v.frames.Ticks[k] > at || f.state(i, row) == "" || f.state(i-1, row) != "" {
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

// scattered reports whether many columns of an observation without labels became
// non-finite at once in the first record after a reset: what they share is the
// state that it left, and no ray that missed.
func (c *Case) scattered(r *step) bool {
	if r.f.kind != obs || !r.f.unlabelled() || r.row < 0 || !c.is(X5, yes) {
		return false
	}
	bad := int(r.f.cell(r.frame, r.row).bad)
	cols := r.f.to - r.f.from
	return bad >= 3 && 4*bad >= cols && bad < cols // all of it is filler
}

// sumAlone reports whether a total reward is not finite while every term of it
// that is recorded is, in the same record: then nothing under the terms did it.
func (c *Case) sumAlone(r *step) bool {
	if r.f.kind != reward || !nonFinite(r.class) || r.row < 0 {
		return false
	}
	seen := false
	for _, f := range c.fields {
		i, row := f.upTo(r.tick), f.row(r.env)
		if f.kind != term || f.len() == 0 || row < 0 || i < 0 || f.frames.Ticks[i] != r.tick {
			continue
		}
		if f.state(i, row) != "" {
			return false
		}
		seen = true
	}
	return seen
}

// unlabelled reports whether the columns of a field have no labels but the
// field's name and their number.
func (f *field) unlabelled() bool {
	return f.part(0) == f.Name && f.part(f.to-f.from-1) == f.Name
}
