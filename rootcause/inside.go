package rootcause

import (
	"fmt"
	"math"
)

// What tells a reset into something solid from a landing: a penetration in m that
// no contact of one step makes, within a step or two after the reset, and what the
// other envs have right after theirs, of which it must be many times more.
const (
	solid       = 0.05
	solidRatio  = 5.0
	solidWithin = 2
	solidPeers  = 2
)

// bornInside is X29: the reset put an env inside something solid. Its first
// contacts after the reset are deeper than any that a step can make, and those of
// the other envs are not. That there is no such thing says nothing.
func (c *Case) bornInside() Feature {
	f, r := c.counterNamed("dist"), c.root()
	switch {
	case f.len() == 0 || !f.PerEnv:
		return unmeasured("contact.dist on the substep clock")
	case !r.is(body...) || r.env < 0 || f.row(r.env) < 0:
		return idle("no env whose physics ran away")
	}
	row, at := f.row(r.env), lastBefore(c.resets[r.env], r.tick)
	if at >= r.tick {
		return idle("no reset of the env in the file")
	}
	depth, tick := f.depthAfter(row, at)
	shallow, peers := c.shallowResets(f, row, depth)
	if depth < solid || tick >= r.tick || peers < solidPeers || 2*shallow <= peers {
		return idle("no reset put the env deeper into something than those of the others did")
	}
	out := found(yes, fmt.Sprintf("contacts of env %d were %s m deep right after its reset at tick %d, before anything had moved; after %d of %d resets of the other envs they were not: the reset put it inside something", r.env, num(depth), at, shallow, peers))
	out.Measured, out.Baseline = depth, solid
	return out.in(f, r.env, 0, tick)
}

// shallowResets counts the resets of the other rows, and those of them after which
// contacts were far less deep than a depth.
func (c *Case) shallowResets(f *field, row int, depth float64) (shallow, all int) {
	for k := range f.rows {
		for _, t := range c.resets[f.env(k)] {
			if k == row || t < f.frames.Ticks[0] {
				continue
			}
			all++
			if d, _ := f.depthAfter(k, t); d*solidRatio < depth {
				shallow++
			}
		}
	}
	return shallow, all
}

// depthAfter returns how deep the contacts of a row are in the first records after
// a tick, in m, with the tick of the deepest.
func (f *field) depthAfter(row int, t int64) (depth float64, tick int64) {
	for i := f.upTo(t) + 1; i < min(f.len(), f.upTo(t)+1+solidWithin); i++ {
		if cell := f.cell(i, row); cell.bad == 0 && -cell.min > depth {
			depth, tick = math.Max(-cell.min, 0), f.frames.Ticks[i]
		}
	}
	return depth, tick
}
