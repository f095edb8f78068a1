package rootcause

import (
	"fmt"
	"math"
)

// lowVariance is F9: the columns that went bad in the normalized observation
// are those that hardly vary, so that a tiny or negative variance blew them up.
func (c *Case) lowVariance() Feature {
	s := c.normalizerStep()
	f := c.first(obsNorm)
	if s == nil {
		if f == nil {
			return unmeasured("the normalized observation")
		}
		return found(no, fmt.Sprintf("%s was finite and below 1e3%s", f.Name, c.ifWrong(" until it began")))
	}
	if s.f.kind == normVar {
		return c.varianceBad(s)
	}
	if s.row < 0 || s.f.kind != obsNorm {
		return unmeasured("the columns that went bad in the normalized observation")
	}
	return c.badColumns(s)
}

// normalizerStep returns the first step of the chain that lies in the
// normalizer, nil when there is none.
func (c *Case) normalizerStep() *step {
	for i := range c.chain {
		if f := c.chain[i].f; f != nil && (f.kind == obsNorm || f.kind == normVar) {
			return &c.chain[i]
		}
	}
	return nil
}

// varianceBad judges a running variance that went bad itself.
func (c *Case) varianceBad(s *step) Feature {
	value := no
	if s.class == negative {
		value = yes
	}
	text := fmt.Sprintf("%s is %s at tick %d", s.name, words[s.class], s.tick)
	if s.row >= 0 && s.class == negative {
		v := s.f.at(s.frame, s.row, s.col)
		text = fmt.Sprintf("the running variance of %s is %s at tick %d: below zero, its root is NaN", c.obsColumn(s), num(v), s.tick)
		out := found(value, text).in(s.f, -1, s.col, s.tick)
		out.Measured = v
		return out
	}
	return found(value, text).in(s.f, -1, s.col, s.tick)
}

// obsColumn names a column of the normalizer by the observation that it
// normalizes, where the widths agree.
func (c *Case) obsColumn(s *step) string {
	for _, f := range c.fields {
		if f.kind == obs && f.len() > 0 && f.width == s.f.width && s.col < len(f.names) {
			return f.column(s.col)
		}
	}
	return s.f.column(s.col)
}

// badColumns asks of each bad column of the normalized observation how much it
// varies.
func (c *Case) badColumns(s *step) Feature {
	bad, low, worst := 0, 0, -1
	least := math.Inf(1)
	for col := range s.f.to - s.f.from {
		if v := s.f.at(s.frame, s.row, col); finite(v) && math.Abs(v) < 1e3 {
			continue
		}
		bad++
		dev, ok := c.deviation(s, col)
		if ok && dev < c.lowDeviation() {
			low++
			if dev < least {
				least, worst = dev, col
			}
		}
	}
	if bad == 0 {
		return unmeasured("the columns that went bad in the normalized observation")
	}
	if worst < 0 {
		if _, ok := c.deviation(s, s.col); !ok {
			return unmeasured("the running variance")
		}
		return found(no, fmt.Sprintf("none of the %d bad columns of %s has a small variance", bad, s.name))
	}
	value := no
	if low*10 >= bad*8 {
		value = yes
	}
	out := found(value, fmt.Sprintf("%d of the %d bad columns of %s hardly vary, %s least (running std %s)", low, bad, s.name, s.f.column(worst), num(least)))
	out.Measured, out.Baseline = least, c.lowDeviation()
	return out.in(s.f, s.env, worst, s.tick)
}

// lowDeviation returns the running std below which a column hardly varies.
func (c *Case) lowDeviation() float64 {
	if e := c.epsilon(); finite(e) {
		return math.Max(1e-3, e)
	}
	return 1e-3
}

// deviation returns the running std of a column when the step was made: from
// the normalizer, or from the raw observation of all envs in the file. A
// negative or non-finite variance counts as zero.
func (c *Case) deviation(s *step, col int) (float64, bool) {
	if v := c.first(normVar); v.len() > 0 {
		i := v.upTo(s.tick)
		if i >= 0 && v.width == s.f.width {
			return stdOf(v.at(i, 0, col), v.Name), true
		}
	}
	for _, f := range c.fields {
		if f.kind == obs && f.len() > 0 && f.width == s.f.width {
			return f.spread(col, f.upTo(s.tick)), true
		}
	}
	return 0, false
}

// stdOf returns the std of a variance, or of a field that holds the std itself.
func stdOf(v float64, name string) float64 {
	if !finite(v) || v <= 0 {
		return 0
	}
	if namesRoot(name) {
		return v
	}
	return math.Sqrt(v)
}
