package rootcause

import (
	"fmt"
)

// frozenLeast is how many recorded numbers of the parameters that are not zero must
// stand still for the whole network to.
const frozenLeast = 4

// allFlushed is flushed where nothing is left of any gradient: it is exactly zero in
// every record of a run that computes in half precision and scales no loss, no
// parameter moves by a bit, and yet the loss changes and the learning rate is not
// zero. In another precision a gradient of zero has many causes.
func (c *Case) allFlushed() (Feature, bool) {
	g := c.gradientGone()
	if g == nil || c.lowPrecision() != "float16" {
		return Feature{}, false
	}
	if on, ok := c.fact("amp.grad_scaler"); ok && on != 0 {
		return Feature{}, false // what it threw away is zero as well
	}
	n := 0
	for _, f := range c.fields {
		if !isWeight(f.kind, f.Stage) {
			continue
		}
		if f.len() < deafFor || !f.constant() {
			return Feature{}, false
		}
		for col := range f.to - f.from {
			if f.at(0, 0, col) != 0 {
				n++
			}
		}
	}
	if n < frozenLeast {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%s is exactly zero in all %d records and no parameter moves by a bit, although the loss changes and the learning rate is not zero; the run computes in float16 without a gradient scaler, where gradients below %.3g become zero",
		g.Name, g.len(), 1.0/halfUnit))
	out.Measured, out.Baseline = float64(g.len()), deafFor
	return out.in(g, -1, 0, g.frames.Ticks[0]), true
}

// gradientGone returns a gradient where every one that is recorded is exactly zero in
// enough records, although a loss changes and the learning rate is never next to
// zero; nil otherwise.
func (c *Case) gradientGone() *field {
	var gone *field
	for _, f := range c.fields {
		if f.kind != grad || f.len() == 0 {
			continue
		}
		for i := range f.cells {
			if f.cells[i].max != 0 || f.cells[i].bad > 0 {
				return nil
			}
		}
		if gone == nil && f.len() >= deafFor {
			gone = f
		}
	}
	if gone == nil || !c.lossGoesOn(start) || !c.rateStays() {
		return nil
	}
	return gone
}
