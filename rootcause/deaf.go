package rootcause

import "fmt"

// The bounds of X24 and of gradients that were flushed.
const (
	liveRate  = 1e-7    // a learning rate below it may well move nothing
	deafFor   = 20      // minibatches over which nothing that is learned may move
	halfUnit  = 1 << 24 // one over the smallest number of half precision
	halfSmall = 0x1p-14 // below it half precision loses digits
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
		if !isWeight(f.kind, f.Stage) {
			continue
		}
		if f.len() < deafFor || !f.constant() {
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
	out.Measured, out.Baseline = float64(n), deafFor
	return out.in(g, -1, 0, g.frames.Ticks[0])
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
	if low == "" || !c.learns() {
		return Feature{}, false
	}
	still, all, share := 0, 0, stuckShare
	var where *field
	for _, f := range c.fields {
		if f.kind != param || f.len() < deafFor && (f.len() < fewRecords || f.to-f.from < manyWeights) {
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

// stillColumn reports whether a column that is not zero never changes.
func (f *field) stillColumn(col int) bool {
	return f.len() > 0 && f.at(0, 0, col) != 0 && f.stillSince(col) == 0
}
