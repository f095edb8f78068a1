package rootcause

import (
	"fmt"
	"math"
)

// The bounds of observations that were normalized twice: how near to that, how far
// from once, in standard deviations, how much of all values, in how many frames.
const (
	twiceNear  = 0.05
	onceFar    = 0.5
	twiceShare = 0.9
	twiceFar   = 0.5 // of the values must tell once from twice
	twiceFor   = 20  // frames
)

// twiceNormalized finds normalized observations that are what the statistics make of
// observations that they have normalized already.
func (c *Case) twiceNormalized() (Feature, bool) {
	raw, z, m, v := c.first(obs), c.first(obsNorm), c.first(normMean), c.first(normVar)
	w := raw.columns()
	if w < swapColumns || z.columns() != w || m.columns() != w || v.columns() != w || namesRoot(v.Name) {
		return Feature{}, false
	}
	eps := c.epsilon()
	if !finite(eps) {
		return Feature{}, false
	}
	near, far, all, frames := 0, 0, 0, 0
	for i := max(0, z.len()-4*twiceFor); i < z.len(); i++ {
		t := z.frames.Ticks[i]
		r, s := raw.upTo(t), v.upTo(t)
		if r < 0 || s < 0 || m.upTo(t) != s || raw.frames.Ticks[r] != t || raw.rows != z.rows {
			continue
		}
		frames++
		for row := range z.rows {
			for col := range w {
				d := math.Sqrt(v.at(s, 0, col)) + eps
				once := (raw.at(r, row, col) - m.at(s, 0, col)) / d
				twice := (once - m.at(s, 0, col)) / d
				is := z.at(i, row, col)
				if !finite(twice) || !finite(is) {
					return Feature{}, false
				}
				all++
				if math.Abs(is-twice) <= twiceNear*math.Max(1, math.Abs(twice)) {
					near++
				}
				if math.Abs(is-once) > onceFar*math.Max(1, math.Abs(once)) {
					far++
				}
			}
		}
	}
	if frames < twiceFor || float64(near) < twiceShare*float64(all) || float64(far) < twiceFar*float64(all) {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%s is what %s and %s make of observations that they have normalized already, in %.0f %% of all values: it is normalized twice", z.Name, m.Name, v.Name, 100*float64(near)/float64(all)))
	out.Measured, out.Baseline = float64(near)/float64(all), twiceShare
	return out.in(z, -1, -1, z.frames.Ticks[0]), true
}

// columns returns how many columns of a field are looked at, 0 without frames.
func (f *field) columns() int {
	if f.len() == 0 {
		return 0
	}
	return f.to - f.from
}
