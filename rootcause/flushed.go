package rootcause

import (
	"fmt"
	"math"
	"slices"
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

// The bounds of gradients that half precision holds hardly anything of: how large a loss
// must be, in all records, and which share of the weights stands still.
const (
	subnormalLoss  = 1e-2
	subnormalStill = 0.5
)

// nearlyFlushed is allFlushed where a little is left: the norm of all gradients is below the
// normal numbers of half precision in every record, although the loss is not small and is
// scaled by nothing, and half of the weights or more do not move by a bit while others do.
// Any gradient that is not zero moves a weight of Adam by about the learning rate.
func (c *Case) nearlyFlushed() (Feature, bool) {
	g := c.first(grad)
	if g.len() < deafFor || c.lowPrecision() != "float16" || c.scalesLoss() || !c.learns() || !(c.leastLoss() >= subnormalLoss) {
		return Feature{}, false
	}
	for _, f := range c.fields {
		if f.kind == grad && f.len() > 0 && !(f.largest(math.MaxInt64) < halfSmall) {
			return Feature{}, false
		}
	}
	still, all := 0, 0
	for _, f := range c.fields {
		if f.kind != param || f.len() < deafFor || keptFixed(f.Name) {
			continue
		}
		for col := range f.to - f.from {
			if f.at(0, 0, col) != 0 {
				all++
			}
			if f.stillColumn(col) {
				still++
			}
		}
	}
	if all < 2*frozenLeast || still == all || float64(still) < subnormalStill*float64(all) {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%s is at most %s in all %d records, below the normal numbers of half precision, and %d of %d recorded weights do not move by a bit, although the loss is never below %s; the run computes in float16 and scales no loss: most gradients become zero",
		g.Name, num(g.largest(math.MaxInt64)), g.len(), still, all, num(c.leastLoss())))
	out.Measured, out.Baseline = g.largest(math.MaxInt64), halfSmall
	return out.in(g, -1, 0, g.frames.Ticks[0]), true
}

// scalesLoss reports whether the run says that it scales its loss.
func (c *Case) scalesLoss() bool {
	if on, ok := c.fact("amp.grad_scaler"); ok && on != 0 {
		return true
	}
	for _, name := range []string{"amp.loss_scale", "amp.scale", "loss_scale", "grad_scale"} {
		if by, ok := c.fact(name); ok && by > 1 {
			return true
		}
	}
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		return about(f.Name, "loss_scale", "amp_scale", "grad_scale", "scaler") && f.len() > 0 && f.cell(f.len()-1, 0).max > 1
	})
}

// leastLoss returns the smallest size that the largest of the losses has in any of its
// records, 0 without one.
func (c *Case) leastLoss() float64 {
	most := 0.0
	for _, f := range c.fields {
		if f.kind != loss || f.PerEnv || f.len() < deafFor {
			continue
		}
		least := math.Inf(1)
		for i := range f.len() {
			least = math.Min(least, f.cell(i, 0).max)
		}
		most = math.Max(most, least)
	}
	return most
}
