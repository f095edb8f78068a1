package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The bounds of X24 and of gradients that were flushed.
const (
	liveRate = 1e-7 // a learning rate below it may well move nothing
	deafFor  = 20   // minibatches over which some of what is learned must move
	// unmovedFor is how many minibatches all that is recorded must stand still: gradients
	// are gathered over some before a step is made.
	unmovedFor = 64
	halfUnit   = 1 << 24 // one over the smallest number of half precision
	halfSmall  = 0x1p-14 // below it half precision loses digits
)

// deaf is X24: gradients flow, the learning rate is not zero, and no parameter
// that is recorded moves by a single bit: what is updated is not what is used.
func (c *Case) deaf() Feature {
	g := c.first(grad)
	if g == nil || c.first(param, paramStd, logStd) == nil {
		return unmeasured("gradients beside parameters")
	}
	if f, ok := c.cutOff(); ok {
		return f
	}
	if !c.learns() {
		return found(no, "gradients or learning rate are next to zero at times, or few: nothing has to move")
	}
	columns, n := 0, 0
	for _, f := range c.fields {
		if !isWeight(f.kind, f.Stage) || keptFixed(f.Name) || ofOther(g.Name, f.Name) {
			continue
		}
		if f.len() < unmovedFor || !f.constant() {
			return found(no, fmt.Sprintf("%s moves, or is too short to tell", f.Name))
		}
		if n = f.len(); f.kind == param {
			columns += f.to - f.from // a std alone may be a constant by design
		}
	}
	if columns < 2 {
		return unmeasured("enough parameters to tell whether any moves")
	}
	out := found(yes, fmt.Sprintf("none of %d recorded numbers of the parameters moves by a bit in %d minibatches, although %s is never zero: what the optimizer updates is not what the policy uses, or the updates are lost", columns, n, g.Name))
	out.Measured, out.Baseline = float64(n), unmovedFor
	return out.in(g, -1, 0, g.frames.Ticks[0])
}

// keptFixed reports whether a network's name says that it is not trained, or that it
// follows another one.
func keptFixed(name string) bool {
	return about(name, "backbone", "encoder", "frozen", "pretrain", "teacher", "expert", "base_model", "target", "ema", "prior", "reference", "ref_")
}

// ofOther reports whether a gradient is of a critic and a parameter of an actor, or the
// other way round: while a critic warms up, an actor stands still.
func ofOther(grad, param string) bool {
	of := func(name string) (actor, critic bool) {
		return hasToken(name, actorTokens...), hasToken(name, criticTokens...)
	}
	a, v := of(strings.TrimPrefix(param, "param."))
	ga, gv := of(strings.TrimPrefix(grad, "grad."))
	return gv && !ga && (a || isStdToken(lastToken(param))) && !v || ga && !gv && v && !a
}

// learns reports whether enough gradients are recorded, none of them zero, with a
// learning rate that is never next to zero: then parameters have to move.
func (c *Case) learns() bool {
	if g := c.first(grad); g == nil {
		return false
	} else if _, v := g.history(); len(v) < deafFor || !(smallest(v) > 0) {
		return false
	}
	if rate := c.first(lr); rate != nil {
		_, v := rate.history()
		return len(v) == 0 || smallest(v) >= liveRate
	}
	return true
}

// constant reports whether no column of a field changes, and all are finite.
func (f *field) constant() bool {
	for col := range f.to - f.from {
		if f.stillSince(col) != 0 {
			return false
		}
	}
	return f.len() > 0
}

// stuckWeights finds weights of low precision that stand still bit for bit although
// gradients flow and the learning rate is not zero: the steps are smaller than
// half a unit in their last place.
func (c *Case) stuckWeights(low string) (Feature, bool) {
	g := c.first(grad)
	if low == "" || !c.learns() || !c.keepsDigits() {
		return Feature{}, false
	}
	still, all, share := 0, 0, stuckShare
	var where *field
	for _, f := range c.fields {
		if f.kind != param || keptFixed(f.Name) || !f.keptIn(low) || c.copied(f, low) || f.len() < deafFor && (f.len() < fewRecords || f.to-f.from < manyWeights) {
			continue
		}
		if f.len() < deafFor {
			share = stuckMost
		}
		for col := range f.to - f.from {
			all++
			if f.stillColumn(col) {
				still, where = still+1, f
			}
		}
	}
	if all < 4 || float64(still) < share*float64(all) {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%d of %d recorded weights do not move by a bit in %d minibatches although %s is never zero; the run computes in %s, whose rounding swallows steps of that size", still, all, where.len(), g.Name, low))
	out.Measured, out.Baseline = float64(still), float64(all)
	return out.in(where, -1, -1, where.frames.Ticks[0]), true
}

// keptIn reports whether a field is of weights in a low precision: autocast keeps them in
// single precision.
func (f *field) keptIn(low string) bool {
	if lowType(f.DType) {
		return true
	}
	for i := range f.len() {
		for col := range f.to - f.from {
			if !hasNumber(f.at(i, 0, col), low) {
				return false
			}
		}
	}
	return true
}

// copied reports whether weights are a copy of others that are recorded in more digits:
// what is rounded for inference stands still while the weights themselves move.
func (c *Case) copied(f *field, low string) bool {
	return slices.ContainsFunc(c.fields, func(g *field) bool {
		if g == f || g.kind != param || g.keptIn(low) || g.len() != f.len() || g.to-g.from != f.to-f.from || g.constant() {
			return false
		}
		for _, i := range []int{0, f.len() - 1} {
			for col := range f.to - f.from {
				if a, b := f.at(i, 0, col), g.at(i, 0, col); math.Abs(a-b) > lastPlace(b, low) {
					return false
				}
			}
		}
		return true
	})
}

// keepsDigits reports whether a loss or a learning rate is recorded in more digits than half
// precision has: a recorder that rounds all that it writes says nothing of the run.
func (c *Case) keepsDigits() bool {
	return slices.ContainsFunc(c.fields, func(f *field) bool { return f.is(loss, lr, monitor) && !lowType(f.DType) })
}

// stillColumn reports whether a column that is not zero never changes.
func (f *field) stillColumn(col int) bool {
	return f.len() > 0 && f.at(0, 0, col) != 0 && f.stillSince(col) == 0
}
