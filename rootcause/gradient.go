package rootcause

import "fmt"

// gradientAlone is X22: a gradient became NaN at once while every loss and all
// that it is made from stayed finite and ordinary: the derivative of something
// has no value where the thing itself has (a norm or root at zero, the branch of
// a where that was not taken).
func (c *Case) gradientAlone() Feature {
	g := c.first(grad)
	r := c.root()
	if g == nil {
		return unmeasured("gradients")
	}
	if r == nil && c.ranks().Value == yes {
		return idle(ranksOnly)
	}
	if !r.is(grad) {
		return found(no, "no gradient was the first to go bad")
	}
	if !c.lossesFine(r) {
		return unmeasured("a finite loss beside the gradient")
	}
	if !nonFinite(r.class) || r.row >= 0 && r.frame > 0 && r.f.state(r.frame-1, r.row) != "" {
		return found(no, fmt.Sprintf("%s grew before it went bad", r.name))
	}
	if r.class != "nan" {
		return found(no, fmt.Sprintf("%s is %s: it overflowed", r.name, words[r.class]))
	}
	return found(yes, fmt.Sprintf("%s is NaN at tick %d without any way up, and every loss and value is finite", r.name, r.tick)).in(r.f, -1, max(r.col, 0), r.tick)
}

// lossesFine reports whether a loss is recorded and all of them are finite and
// in their usual range at the time of a step.
func (c *Case) lossesFine(s *step) bool {
	seen := false
	for _, f := range c.fields {
		if f.kind != loss {
			continue
		}
		if i := f.upTo(s.tick); i >= 0 && f.rows > 0 {
			seen = true
			if f.badRows(i) > 0 {
				return false
			}
		} else if j := f.entryBefore(s.tick + 1); j >= 0 {
			seen = true
			if f.traced(j) != "" {
				return false
			}
		}
	}
	return seen
}
