package rootcause

import (
	"fmt"
	"math"
)

// The values of X25: signs that no healthy run shows, each of one cause.
const (
	ascends = "ascent"
	atFloor = "floor"
	spikes  = "spikes"
	atReset = "reset"
	flipped = "flip"
)

// telltale is X25: a sign of its own in a run in which every value is finite and
// of a size that its kind may have. That there is none says nothing: few runs that
// fail show one.
func (c *Case) telltale() Feature {
	if f, ok := c.climbing(); ok {
		return f
	}
	if c.root() != nil {
		return idle("it began elsewhere")
	}
	if f, ok := c.firstOf((*Case).expanding, (*Case).unpaid, (*Case).outrun, (*Case).hotTemperature, (*Case).overstepped, (*Case).stdAtFloor, (*Case).flippedContacts, (*Case).deadMotors, (*Case).strayReadings, (*Case).clippedMotion, (*Case).stuckReading, (*Case).resetSpikes, (*Case).keptSpeeds, (*Case).keptActions, (*Case).keptMemory); ok {
		return f
	}
	return idle("no rate below zero, discount above one, steps beyond the rate, std at its floor from the start, contact of the wrong sign or stray readings")
}

// unset is what loops write for a learning rate that they do not have.
const unset = -1

// risingWords are in the names of what goes up its loss on purpose, and of logarithms.
var risingWords = []string{"log", "dual", "lagrang", "lambda", "multiplier", "advers", "maximi"}

// climbing finds a learning rate below zero: it goes up the loss.
func (c *Case) climbing() (Feature, bool) {
	for _, f := range c.fields {
		if f.kind != lr || about(f.Name, risingWords...) {
			continue
		}
		for i := range f.len() {
			for col := range f.to - f.from {
				if v := f.at(i, 0, col); v < 0 && v != unset && finite(v) && !about(f.column(col), risingWords...) {
					return found(ascends, fmt.Sprintf("%s is %s from tick %d on: a rate below zero goes up the loss instead of down", f.label(col), num(v), f.frames.Ticks[i])).in(f, -1, col, f.frames.Ticks[i]), true
				}
			}
		}
	}
	return Feature{}, false
}

// stdAtFloor finds a policy that never explored although it is trained: every std
// of every record is one number at or below the clamp. What is evaluated or
// imitates a teacher has no log-probability, no loss or no gradient.
func (c *Case) stdAtFloor() (Feature, bool) {
	f := c.first(std)
	if f.len() < enough || c.first(logProb).len() == 0 || c.first(loss).len() == 0 || c.first(grad).len() == 0 {
		return Feature{}, false
	}
	floor := f.at(0, 0, 0)
	if !(floor > 0 && floor <= 1.01*stdClamp) {
		return Feature{}, false
	}
	for i := range f.cells {
		if cell := &f.cells[i]; cell.bad > 0 || cell.min != floor || cell.max != floor {
			return Feature{}, false
		}
	}
	out := found(atFloor, fmt.Sprintf("every std of %s is exactly %s in all %d records: it sits at its clamp, and the policy never explored", f.Name, num(floor), f.len())).in(f, -1, 0, f.frames.Ticks[0])
	out.Measured, out.Baseline = floor, stdClamp
	return out, true
}

// weakest is a direct stiffness, in 1/s², that lets a body sink by a metre under
// its own weight: nothing rests on it.
const weakest = 9.81

// flippedContacts finds a recorded solref whose time constant fell below zero:
// MuJoCo reads that as a direct stiffness, and one so small carries nothing.
func (c *Case) flippedContacts() (Feature, bool) {
	for _, f := range c.fields {
		if f.kind != modelArray || !about(f.Name, "solref") {
			continue
		}
		for i := 1; i < f.len(); i++ {
			for row := range f.rows {
				for col := range f.to - f.from {
					was, is := f.at(i-1, row, col), f.at(i, row, col)
					if col%2 == 0 && was > 0 && is < 0 && is > -weakest {
						return found(flipped, fmt.Sprintf("%s%s changes its sign at tick %d, from %s to %s: below zero it is a direct stiffness, and one of %s carries nothing",
							f.label(col), inEnv(f.env(row)), f.frames.Ticks[i], num(was), num(is), num(-is))).in(f, f.env(row), col, f.frames.Ticks[i]), true
					}
				}
			}
		}
	}
	return Feature{}, false
}

// The bounds of stray readings: how far above all others, how many, in how many of
// the records, and how alike in size.
const (
	strayRatio = 100.0
	strayLeast = 4
	strayShare = 0.2
	strayAlike = 0.05
)

// impactWords are in the names of readings that a hard landing drives up by
// itself.
var impactWords = []string{"force", "contact", "touch", "acc", "imu", "torque", "impact", "pressure"}

// strayReadings finds single readings of one env's sensor that are hundreds of
// times all others, of about one size, and gone in the next record: a counter
// that wraps or a code for an error. A number that is there bit for bit each time
// may be what a sensor says for "nothing", and what an impact drives up is left
// alone, whatever it is called.
func (c *Case) strayReadings() (Feature, bool) {
	for _, f := range c.fields {
		if f.kind != sensor || !f.PerEnv || f.len() < 2*enough || f.rows < 2 || about(f.Name, impactWords...) {
			continue
		}
		for col := range f.to - f.from {
			if about(f.column(col), impactWords...) {
				continue
			}
			if row, most := f.loudest(col); row >= 0 {
				if out, ok := f.strays(row, col, most); ok {
					return out, true
				}
			}
		}
	}
	return Feature{}, false
}

// loudest returns the row whose largest value of a column is far above that of
// every other, with that value; -1 without one.
func (f *field) loudest(col int) (row int, most float64) {
	row, second := -1, 0.0
	for r := range f.rows {
		peak := 0.0
		for i := range f.len() {
			peak = math.Max(peak, math.Abs(f.at(i, r, col)))
		}
		if peak > most {
			row, most, second = r, peak, most
		} else {
			second = math.Max(second, peak)
		}
	}
	if !(most > strayRatio*second) {
		return -1, 0
	}
	return row, most
}

// strays judges a column of one row whose largest value is known.
func (f *field) strays(row, col int, most float64) (Feature, bool) {
	p, first, last := pack{}, -1, -2
	for i := range f.len() {
		for r := range f.rows {
			v := math.Abs(f.at(i, r, col))
			if r != row || v < (1-strayAlike)*most {
				p.other(v)
				continue
			}
			if i == last+1 {
				return Feature{}, false // it lasts
			}
			if last = i; first < 0 {
				first = i
			}
			p.spike(v)
		}
	}
	if p.spikes < strayLeast || float64(p.spikes) > strayShare*float64(f.len()) || !p.apart() {
		return Feature{}, false
	}
	out := found(spikes, fmt.Sprintf("%s%s reads about %s in %d single records and is below %s in all others, as in the other envs", f.label(col), inEnv(f.env(row)), num(most), p.spikes, num(p.most)))
	out.Measured, out.Baseline = p.least/p.most, strayRatio
	return out.in(f, f.env(row), col, f.frames.Ticks[first]), true
}

// pack compares a few values with the many others.
type pack struct {
	spikes, others, live int
	least, first, most   float64 // of the spikes the smallest and the first, of the others the largest
	differ, bad          bool
}

// spike takes one of the few.
func (p *pack) spike(v float64) {
	if p.spikes == 0 {
		p.least, p.first = v, v
	}
	p.spikes++
	p.least = math.Min(p.least, v)
	p.differ = p.differ || v != p.first
	p.bad = p.bad || !finite(v)
}

// other takes one of the many.
func (p *pack) other(v float64) {
	p.others++
	p.most = math.Max(p.most, v)
	if v != 0 {
		p.live++
	}
	p.bad = p.bad || !finite(v)
}

// apart reports whether the few are far above the many, which are alive, and not
// one and the same number.
func (p *pack) apart() bool {
	return !p.bad && p.differ && 2*p.live > p.others && p.most > 0 && p.least > strayRatio*p.most
}

// resetSpikes finds a column of an observation or sensor that is out of all
// proportion in the first record after each reset and never else: what it is made
// from was not reset, such as the position of the step before.
func (c *Case) resetSpikes() (Feature, bool) {
	for _, f := range c.fields {
		if f.kind != obs && f.kind != sensor || !f.PerEnv || f.len() < 2*enough || about(f.Name, impactWords...) {
			continue
		}
		for col := range f.to - f.from {
			if about(f.column(col), impactWords...) {
				continue
			}
			if out, ok := c.spikesAtResets(f, col); ok {
				return out, true
			}
		}
	}
	return Feature{}, false
}

// spikesAtResets judges one column.
func (c *Case) spikesAtResets(f *field, col int) (Feature, bool) {
	t := f.frames.Ticks
	p, envs, where, tick := pack{}, 0, -1, int64(0)
	for row := range f.rows {
		before := p.spikes
		for i := 1; i < f.len(); i++ {
			v := math.Abs(f.at(i, row, col))
			if !cutBetween(c.resets[f.env(row)], t[i-1]+1, t[i]+1) {
				p.other(v)
				continue
			}
			if p.spike(v); where < 0 {
				where, tick = f.env(row), t[i]
			}
		}
		if p.spikes > before {
			envs++
		}
	}
	if envs < 2 || p.spikes < strayLeast || float64(p.spikes) > strayShare*float64(p.others) || !p.apart() {
		return Feature{}, false
	}
	out := found(atReset, fmt.Sprintf("%s is at least %s in the first record after each of %d resets, in %d envs, and below %s in all others: what it is made from was not reset", f.label(col), num(p.least), p.spikes, envs, num(p.most)))
	out.Measured, out.Baseline = p.least/p.most, strayRatio
	return out.in(f, where, col, tick), true
}
