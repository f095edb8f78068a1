package rootcause

// The bounds of a reward that sits at one over its own epsilon: how close it must
// be to it, how much larger than the quiet part of it, how often, and from what
// size of a loss on it has ruined the learner.
const (
	atEpsilon  = 1e-3
	aboveQuiet = 1e3
	ruined     = 1e12
)

// divided finds a reward that is finite and yet one over the small number that was
// added to its denominator, again and again, while a loss is beyond any use: the
// distance was zero. A large reward by itself is no fault.
func (c *Case) divided() (step, bool) {
	if c.largestLoss() < ruined {
		return step{}, false
	}
	for _, f := range c.fields {
		if f.kind != term && f.kind != reward || f.len() == 0 || !f.PerEnv {
			continue
		}
		if s, ok := c.atBound(f); ok {
			return s, true
		}
	}
	return step{}, false
}

// atBound returns the first of several values of a field that are at such a bound,
// in the rows of the file or, by the trace, in any env.
func (c *Case) atBound(f *field) (step, bool) {
	n, first, row := 0, -1, -1
	for i := range f.len() {
		for r := range f.rows {
			if v := f.cell(i, r).max; overEpsilon(v) > 0 && v > aboveQuiet*f.base {
				if n++; n == 1 {
					first, row = i, r
				}
			}
		}
	}
	seen, entry := 0, -1
	for j := 0; f.trace != nil && j < len(f.trace.Ticks); j++ {
		if v := at(f.trace.AbsMax, j); overEpsilon(v) > 0 && v > aboveQuiet*f.base {
			if seen++; seen == 1 {
				entry = j
			}
		}
	}
	var s step
	switch {
	case seen >= 3:
		s = f.inTrace(entry, -1)
	case n >= 3:
		s = c.inFrame(f, first, row)
	default:
		return step{}, false
	}
	s.class = huge
	return s, true
}
