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
			if out, ok := f.trails(g); ok && c.targetType(f) != "" {
				return out, true
			}
			if out, ok := c.stumbles(f, g); ok {
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
	if n == nil || m.len() < deafFor || !c.computesLow(n) && !c.computesLow(m) {
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

// computesLow reports whether the type of a field says that the run computes it in low
// precision. A dump of which all the physics, or everything, is in half precision too
// was only stored so: no simulator computes in that.
func (c *Case) computesLow(f *field) bool {
	return lowType(f.DType) && !(f.DType == "float16" && c.storedHalf())
}

// storedHalf reports whether a dump keeps all that it has of the physics in half
// precision, or all of its numbers.
func (c *Case) storedHalf() bool {
	some, whole, all := false, true, true
	for _, f := range c.fields {
		env := f.kind.isBody() || slices.Contains([]kind{sensor, obs, reward, term}, f.kind)
		some = some || env && f.DType == "float16"
		whole = whole && !(f.kind.isBody() && f.DType != "float16")
		all = all && f.DType != "float32"
	}
	body := c.first(body...) != nil
	return some && (body && whole || all)
}

// online returns the weights that a target network's follow, nil when they are
// not recorded.
func (c *Case) online(target *field) *field {
	name := strings.ToLower(target.Name)
	for _, cut := range []string{"_target", "target_", "target."} {
		name = strings.Replace(name, cut, "", 1)
	}
	if target.Stage != dump.StageParam {
		return nil
	}
	var critics []*field
	for _, f := range c.fields {
		if f.kind != param || f == target || f.len() != target.len() || f.to-f.from != target.to-target.from {
			continue
		}
		if strings.ToLower(f.Name) == name {
			return f
		}
		if about(f.Name, criticWords...) && !about(f.Name, "target") {
			critics = append(critics, f)
		}
	}
	if len(critics) == 1 && name == "param.target" {
		return critics[0] // a target that does not say whose has one critic to follow
	}
	return nil
}

// criticWords are in the names of networks that a target network follows.
var criticWords = []string{"critic", "value", "qf", "q_", "q1", "qnet"}

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

// The bounds of a target that moves in parts: how often, of the records in which any
// of it moves, the others stand still, and how far its least share may reach of what it follows.
const (
	stumbleCols  = 3
	stumbleShare = 0.2
	slowFollow   = 0.02
)

// stumbles reports whether a target of a run that declares low precision hardly
// follows: in the records in which some of its numbers move, others that are far
// from those they follow do not move by a bit, now these, now those. A moving
// average moves all of them in each of its steps, and a copy leaps.
func (c *Case) stumbles(f, g *field) (Feature, bool) {
	low := c.targetType(f)
	if low == "" {
		return Feature{}, false
	}
	cols, cells, still, stood, records := 0, 0, 0, 0, 0
	for col := range f.to - f.from {
		if !f.apart(g, col) || g.stillColumn(col) {
			continue
		}
		gap := math.Abs(g.at(f.len()-1, 0, col) - f.at(0, 0, col))
		if math.Abs(f.at(f.len()-1, 0, col)-f.at(0, 0, col)) > slowFollow*gap {
			return Feature{}, false
		}
		cols++
		rested := 0
		for i := 1; i < f.len(); i++ {
			if f.same(i-1, i) {
				continue
			}
			cells++
			if f.at(i, 0, col) == f.at(i-1, 0, col) {
				still, rested = still+1, rested+1
			}
		}
		if rested > 0 {
			stood++
		}
	}
	for i := 1; i < f.len(); i++ {
		if !f.same(i-1, i) {
			records++
		}
	}
	if cols < stumbleCols || records < deafFor || stood < stumbleCols || float64(still) < stumbleShare*float64(cells) {
		return Feature{}, false
	}
	out := found(yes, fmt.Sprintf("%s is kept in %s and came less than %g %% of the way to %s in %d records; whenever some of it moves, %.0f %% of the rest stands still to the bit: rounding swallows the steps",
		f.Name, low, 100*slowFollow, g.Name, f.len(), 100*float64(still)/float64(cells)))
	out.Measured, out.Baseline = float64(still)/float64(cells), stumbleShare
	return out.in(f, -1, -1, f.frames.Ticks[0]), true
}

// targetType names the low precision that a target network is kept in, "" for none.
func (c *Case) targetType(f *field) string {
	if c.computesLow(f) {
		return f.DType
	}
	for _, name := range []string{"target.dtype", f.Name + ".dtype"} {
		if t := strings.TrimPrefix(c.text(name), "torch."); lowType(t) {
			return t
		}
	}
	return c.lowPrecision()
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
