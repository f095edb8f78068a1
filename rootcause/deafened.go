package rootcause

import (
	"fmt"
	"math"
)

// The bounds of a policy that no longer sees what it is given: how far above that of the
// other envs a reset moves an observation, how far above theirs the mean answers, how
// little it does from some reset on, and for how many resets before and after.
const (
	thrownFar   = 5.0
	answers     = 5.0
	silentBelow = 2.0
	heardFor    = 4
	unheardFor  = 3
	stillMoves  = 0.2 // of what the other envs' means moved before: a policy at its bounds answers nothing
)

// deafened finds a policy whose mean leapt with the observation at every reset, and from
// some reset on at none, although the observations leap as before and the means of all
// envs go on: it reads a buffer that is not written any more.
func (c *Case) deafened() (Feature, bool) {
	o, m := c.first(obs), c.first(mean)
	if o.len() < 2*enough || o.len() != m.len() || !o.PerEnv || !m.PerEnv || o.rows != m.rows || o.rows < 4 {
		return Feature{}, false
	}
	heard, unheard, since := 0, 0, int64(0)
	var before, after []float64
	for i := 1; i < o.len(); i++ {
		for row := range o.rows {
			if !cutBetween(c.resets[o.env(row)], o.frames.Ticks[i-1], o.frames.Ticks[i]) {
				continue
			}
			leap, usual := o.against(i, row)
			answer, others := m.against(i, row)
			if !(usual > 0 && others > 0 && leap > thrownFar*usual) {
				continue
			}
			switch {
			case answer >= answers*others && unheard == 0:
				heard, before = heard+1, append(before, others)
			case answer <= silentBelow*others && heard >= heardFor:
				if unheard == 0 {
					since = o.frames.Ticks[i]
				}
				unheard, after = unheard+1, append(after, others)
			default:
				return Feature{}, false
			}
		}
	}
	if heard < heardFor || unheard < unheardFor || median(after) < stillMoves*median(before) {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%s leapt with %s at each of %d resets, and from tick %d on at none of %d, although the observations leap as before: the policy reads what is not written any more", m.Name, o.Name, heard, since, unheard))
	out.Measured, out.Baseline = float64(unheard), unheardFor
	return out.in(m, -1, -1, since), true
}

// against returns the largest move of a row up to a frame, and the median of those of
// the others; NaN where a value is not finite.
func (f *field) against(i, row int) (own, others float64) {
	var rest []float64
	for r := range f.rows {
		d := 0.0
		for col := range f.to - f.from {
			d = math.Max(d, math.Abs(f.at(i, r, col)-f.at(i-1, r, col)))
		}
		if r == row {
			own = d
		} else {
			rest = append(rest, d)
		}
	}
	return own, median(rest)
}
