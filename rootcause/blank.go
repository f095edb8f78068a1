package rootcause

import (
	"math"
	"slices"
)

// The bounds of a number that stands for "nothing": how large it is at least, how far
// above all others, and in how many frames of the file it must be looked for.
const (
	blankLeast  = 1e4
	blankGap    = 100.0
	blankFrames = 8
)

// findBlank finds the number that a sensor says where it sees nothing, or that a
// policy gives to an action that is not allowed: one and the same to the bit, in half
// of the rows at least, early in the file and late, and far above all that is said
// else. What runs away, or is put in the place of what did, begins late and in few.
func (f *field) findBlank() float64 {
	if f.len() < blankFrames || f.rows < 2 || !f.PerEnv || !f.mayBlank() {
		return 0
	}
	most := 0.0
	for i := range f.cells {
		if f.cells[i].bad > 0 {
			return 0
		}
		most = math.Max(most, f.cells[i].max)
	}
	if most < blankLeast {
		return 0
	}
	in, early, late, others := map[int]bool{}, false, false, false
	sign := 0.0
	for i := range f.len() {
		for row := range f.rows {
			for col := range f.to - f.from {
				v := f.at(i, row, col)
				switch {
				case math.Abs(v) == most && (sign == 0 || v == sign):
					sign, in[row] = v, true
					early, late = early || 4*i < f.len(), late || 4*i >= 3*f.len()
				case math.Abs(v)*blankGap > most:
					return 0
				default:
					others = others || v != 0
				}
			}
		}
	}
	if 2*len(in) < f.rows || !early || !late || !others || sign > 0 && !f.positiveBlank() {
		return 0
	}
	return sign
}

// mayBlank reports whether a field is of a kind that knows such numbers: sensors and
// observations made of them, distances to what is near, and outputs of a policy.
func (f *field) mayBlank() bool { return f.positiveBlank() || f.is(mean, logProb) }

// positiveBlank reports whether such a number may be above zero.
func (f *field) positiveBlank() bool {
	return f.is(sensor, obs) || f.kind == force && hasToken(f.Name, "dist", "distance")
}

// is reports whether a field is of one of some kinds.
func (f *field) is(kinds ...kind) bool { return slices.Contains(kinds, f.kind) }

// leaveOut makes the summaries of all rows forget a number that stands for nothing.
func (f *field) leaveOut(blank float64) {
	f.blank = math.Abs(blank)
	for i := range f.cells {
		c, any := cell{}, false
		for col := range f.to - f.from {
			if v := f.at(i/f.rows, i%f.rows, col); v != blank {
				c.seen(col, v, &any)
			}
		}
		f.cells[i] = c
	}
	f.measure()
}
