package rootcause

import "math"

// The least of an observation that goes on around what is bad in it: frames after that in
// which it began, and columns that are fine.
const (
	restFor     = 3
	restColumns = 2
)

// restGoesOn reports whether the same columns of an observation, and no others, are not
// finite in the frame in which it began and in some after it, while most others move on at
// an ordinary size: a state that is not finite would be in all of them a step later.
func (c *Case) restGoesOn(r *step) bool {
	f := r.f
	end := r.frame + restFor
	if !r.is(obs) || !nonFinite(r.class) || end >= f.len() || cutBetween(c.resets[r.env], f.frames.Ticks[r.frame]+1, f.frames.Ticks[end]+1) {
		return false
	}
	fine, moving, cols := 0, 0, f.to-f.from
	for col := range cols {
		was := f.at(r.frame, r.row, col)
		moves := false
		for i := r.frame; i <= end; i++ {
			v := f.at(i, r.row, col)
			if finite(v) != finite(was) || finite(v) && math.Abs(v) > f.limit {
				return false
			}
			moves = moves || v != was
		}
		if finite(was) {
			fine++
		}
		if finite(was) && moves {
			moving++
		}
	}
	return fine >= restColumns && 2*fine > cols && 2*moving > fine
}
