package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// stalled finds what is averaged in low precision and no longer moves although
// what it averages does: a normalizer's count, or the weights of a target network.
func (c *Case) stalled() (Feature, bool) {
	if f, ok := c.stalledCount(); ok {
		return f, true
	}
	for _, f := range c.fields {
		if f.kind != param || f.len() < deafFor || !about(f.Name, "target") {
			continue
		}
		if g := c.online(f); g != nil {
			if out, ok := f.trails(g); ok {
				return out, true
			}
		}
	}
	return Feature{}, false
}

// stalledCount finds a count of observations in low precision that grew once and
// stands still now while the mean that goes with it moves.
func (c *Case) stalledCount() (Feature, bool) {
	n, m := c.counterOf("normalizer.count"), c.first(normMean)
	if n == nil || m.len() < deafFor || !lowType(n.DType) && !lowType(m.DType) {
		return Feature{}, false
	}
	ticks, v := n.history()
	still := 0
	for i := len(v) - 1; i > 0 && v[i-1] == v[len(v)-1]; i-- {
		still++
	}
	if still < deafFor || still >= len(v)-1 || v[0] >= v[len(v)-1] {
		return Feature{}, false
	}
	since := ticks[len(ticks)-1-still]
	lo, hi := m.upTo(since)+1, m.len()-1
	moved := 0
	for i := max(lo, 1); i <= hi; i++ {
		if !m.same(i-1, i) {
			moved++
		}
	}
	if moved < deafFor {
		return Feature{}, false
	}
	f := found(yes, fmt.Sprintf("%s stands at %s since tick %d, in %d records, while %s goes on: in low precision what is added to it is rounded away", n.Name, num(v[len(v)-1]), since, still, m.Name))
	f.Measured, f.Baseline = float64(still), deafFor
	return f.in(n, -1, 0, since), true
}

// lowType reports whether a type has half the digits of float32, or fewer.
func lowType(t string) bool { return t == "bfloat16" || t == "float16" }

// online returns the weights that a target network's follow, nil when they are
// not recorded.
func (c *Case) online(target *field) *field {
	name := strings.ToLower(target.Name)
	for _, cut := range []string{"_target", "target_", "target."} {
		name = strings.Replace(name, cut, "", 1)
	}
	i := slices.IndexFunc(c.fields, func(f *field) bool {
		return f.kind == param && f != target && strings.ToLower(f.Name) == name && f.len() == target.len() && f.to-f.from == target.to-target.from
	})
	if i < 0 || target.Stage != dump.StageParam {
		return nil
	}
	return c.fields[i]
}

// trailing is how far, as a share of itself, a target's weight must stay from the one
// that it follows for any moving average to move it.
const trailing = 0.01

// trails reports whether most weights of a target do not move by a bit although
// those that they follow stay far away and move, and others do move: a target that
// is copied now and then stands still as a whole, and jumps as a whole.
func (f *field) trails(g *field) (Feature, bool) {
	cols, still := f.to-f.from, 0
	for col := range cols {
		if f.stillColumn(col) && !g.stillColumn(col) && f.apart(g, col) {
			still++
		}
	}
	some := 0
	for i := 1; i < f.len(); i++ {
		moved := 0
		for col := range cols {
			if f.at(i, 0, col) != f.at(i-1, 0, col) {
				moved++
			}
		}
		if 2*moved > cols {
			return Feature{}, false
		}
		if moved > 0 {
			some++
		}
	}
	if cols < 8 || 2*still < cols || 2*some < f.len() {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%d of %d recorded weights of %s do not move by a bit in %d records although those of %s, which they follow, are more than %g %% away: rounding swallows the steps", still, cols, f.Name, f.len(), g.Name, 100*trailing))
	out.Measured, out.Baseline = float64(still), float64(cols)
	return out.in(f, -1, -1, f.frames.Ticks[0]), true
}

// apart reports whether a column stays far from that of another field.
func (f *field) apart(g *field, col int) bool {
	for i := range f.len() {
		a, b := f.at(i, 0, col), g.at(i, 0, col)
		if !finite(b) || math.Abs(a-b) < trailing*math.Abs(a) {
			return false
		}
	}
	return true
}
