package rootcause

import (
	"fmt"
	"slices"
	"strings"
)

// localWords are in the names of gradients before the ranks share them.
var localWords = []string{"local", "before_reduce", "pre_reduce"}

// reduced tells what a rank had itself from what it was sent: a gradient that is
// recorded before and after the ranks share it, or a loss, which no rank sends.
func (c *Case) reduced() (Feature, bool) {
	r := c.root()
	if !r.placed() || !nonFinite(r.class) {
		return Feature{}, false
	}
	if own := c.ownGradient(r); own != nil {
		i := own.upTo(r.tick)
		if v := own.at(i, 0, own.ownColumn(r)); own.cell(i, 0).bad == 0 {
			return found(yes, fmt.Sprintf("%s is %s at tick %d while this rank's own %s is %s: the all-reduce brought it (rank %d of %d)",
				r.name, words[r.class], r.tick, own.Name, num(v), c.man.Run.Rank, c.man.Run.WorldSize)).in(r.f, -1, max(r.col, 0), r.tick), true
		}
		return found(no, fmt.Sprintf("%s of this rank is not finite itself, before any all-reduce", own.Name)).in(own, -1, 0, r.tick), true
	}
	if k := r.f.kind; (k == loss || k == value || k == logProb) && c.is(F11, no) {
		return found(no, fmt.Sprintf("%s went bad on this rank with finite parameters: no all-reduce brought that", r.name)).in(r.f, -1, max(r.col, 0), r.tick), true
	}
	return Feature{}, false
}

// sharedStatistic finds a running statistic that went bad at once although every
// observation of this rank that can have been in it was fine: where ranks share it, it
// holds those of the others too. It may be of this rank alone as well.
func (c *Case) sharedStatistic() (Feature, bool) {
	r, o := c.root(), c.first(obs)
	if !r.is(normMean, normVar) || !nonFinite(r.class) || r.row >= 0 && !r.first() && r.f.badRows(r.frame-1) > 0 || o.upTo(r.tick) < 0 {
		return Feature{}, false
	}
	for i := o.upTo(r.tick); i >= 0 && o.frames.Ticks[i] > r.before; i-- {
		if o.badRows(i) > 0 {
			return Feature{}, false
		}
	}
	f := found("elsewhere", fmt.Sprintf("%s became %s at once although no observation of this rank is out of the ordinary: those of another may be in it (rank %d of %d)",
		r.name, words[r.class], c.man.Run.Rank, c.man.Run.WorldSize))
	f.Half = true
	return f.in(r.f, -1, max(r.col, 0), r.tick), true
}

// ownColumn returns the column of a rank's own values that a step's came from.
func (f *field) ownColumn(r *step) int {
	if f.to-f.from == 1 {
		return 0
	}
	return max(r.col, 0)
}

// ownGradient returns this rank's own part of the gradient that a step is of,
// with a frame at that time, nil where it is not recorded.
func (c *Case) ownGradient(r *step) *field {
	if r.f.kind != grad {
		return c.twin(r)
	}
	i := slices.IndexFunc(c.fields, func(f *field) bool {
		if f.kind != grad || f.PerEnv || f.to-f.from != 1 || !about(f.Name, localWords...) {
			return false
		}
		base, _, _ := strings.Cut(strings.ToLower(f.Name), ".")
		k := f.upTo(r.tick)
		return strings.HasPrefix(strings.ToLower(r.name), base) && k >= 0 && f.frames.Ticks[k] == r.tick
	})
	if i < 0 {
		return nil
	}
	return c.fields[i]
}

// twin returns what this rank had itself of a statistic that the ranks share: a
// field with the words of its name and one that says "local", of its kind and
// width, with a frame since the step was last fine. It is nil without one.
func (c *Case) twin(r *step) *field {
	if about(r.name, localWords...) || r.f.PerEnv {
		return nil
	}
	want := nameWords(r.name)
	i := slices.IndexFunc(c.fields, func(f *field) bool {
		k := f.upTo(r.tick)
		if f.kind != r.f.kind || f.PerEnv || f.to-f.from != r.f.to-r.f.from || !about(f.Name, localWords...) || k < 0 || f.frames.Ticks[k] <= r.before {
			return false
		}
		has := nameWords(f.Name)
		return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(has, w) })
	})
	if i < 0 {
		return nil
	}
	return c.fields[i]
}

// nameWords splits a field's name at its dots and underscores.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '.' || r == '_' || r == '/' })
}
