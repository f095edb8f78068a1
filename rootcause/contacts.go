package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/mjb"
)

// A contact given as a spring (direct solref) is too hard for the step beyond
// sqrt(stiffness)*dt = 1.5; one given as a time constant when that is shorter
// than two steps, and hopeless when no longer than one.
const (
	hard   = 1.5
	coarse = 1.01
	rough  = 1.9
)

// disableContact is mjDSBL_CONTACT.
const disableContact = 1 << 4

// contactAudit is X14: the contacts of the model against its timestep.
func (c *Case) contactAudit() Feature {
	dt := c.timestep()
	if c.inverses() == nil || dt <= 0 {
		return unmeasured("a compiled model (.mjb) beside the dump: the contacts' parameters")
	}
	spring, short := c.extremeContacts()
	switch {
	case c.model.Opt.DisableFlags&disableContact != 0:
		return found("none", "the model switches contacts off")
	case spring == nil && short == nil:
		return found("none", "no geom of the model can touch another")
	case spring != nil && dt*math.Sqrt(-spring.SolRef[0]) > hard:
		return hardContact(spring, dt)
	case short != nil && short.SolRef[0] < rough*dt:
		return coarseContact(short, dt)
	}
	return found(no, fmt.Sprintf("the contacts of the model are soft enough for a step of %s s", num(dt)))
}

// unstableContact reports whether the stiffest contact that is a spring is beyond
// what a step can follow at all, as a servo would be.
func (c *Case) unstableContact() bool {
	spring, _ := c.extremeContacts()
	return spring != nil && c.timestep()*math.Sqrt(-spring.SolRef[0]) > unstable
}

// extremeContacts returns the geom with the stiffest spring and the one with the
// shortest time constant among those that can touch another, nil for none.
func (c *Case) extremeContacts() (spring, short *mjb.Geom) {
	if c.inverses() == nil {
		return nil, nil
	}
	for i := range c.model.Geoms {
		g := &c.model.Geoms[i]
		switch {
		case g.ConType == 0 && g.ConAff == 0:
		case g.SolRef[0] < 0:
			if spring == nil || g.SolRef[0] < spring.SolRef[0] {
				spring = g
			}
		case short == nil || g.SolRef[0] < short.SolRef[0]:
			short = g
		}
	}
	return spring, short
}

// hardContact says that a contact's spring is too stiff for the step.
func hardContact(g *mjb.Geom, dt float64) Feature {
	w := dt * math.Sqrt(-g.SolRef[0])
	f := found("hard", fmt.Sprintf("the contacts of geom %s are a spring of stiffness %s (solref): sqrt(stiffness)*dt is %s at %s s, and about 1 is the limit",
		g.Name, num(-g.SolRef[0]), num(w), num(dt)))
	f.Measured, f.Baseline = w, hard
	return f
}

// coarseContact says that a contact is over before two steps are.
func coarseContact(g *mjb.Geom, dt float64) Feature {
	value := "rough"
	if g.SolRef[0] <= coarse*dt {
		value = "coarse"
	}
	f := found(value, fmt.Sprintf("the time constant of the contacts of geom %s (solref %s s) is shorter than two steps of %s s",
		g.Name, num(g.SolRef[0]), num(dt)))
	f.Measured, f.Baseline = g.SolRef[0]/dt, 2
	return f
}

// untouched is X14 where the model does not say it: no env of the run ever had a
// contact or another active constraint until it ran away, by records that begin
// with the run.
func (c *Case) untouched() (Feature, bool) {
	r, n := c.root(), c.constraints()
	if !r.is(body...) || n == nil || n.trace == nil || len(n.trace.Ticks) < enough {
		return Feature{}, false
	}
	if first := n.trace.Counts; len(first) == 0 || first[0] > 1 {
		return Feature{}, false
	}
	over, all, _ := n.above(0, r.tick+1)
	if over > 0 || all < enough {
		return Feature{}, false
	}
	f := found("never", fmt.Sprintf("%s was 0 in every env in all %d checks from the start of the run until it ran away: nothing ever touched anything", n.Name, all))
	f.Measured, f.Baseline = 0, float64(all)
	return f.in(n, -1, 0, r.tick), true
}

// neverTouched is X14 for a count of contacts that holds every single substep of the
// run up to the one in which it ran away, and is zero in all envs: however hard the
// contacts of the model are, there was none.
func (c *Case) neverTouched() (Feature, bool) {
	r, n := c.root(), c.counterNamed("ncon")
	if !r.is(body...) || n == nil || n.trace == nil || n.Clock != r.f.Clock {
		return Feature{}, false
	}
	last := n.entryBefore(r.tick + 1)
	if last < 1 || n.trace.Ticks[last] != r.tick {
		return Feature{}, false
	}
	for j := range last + 1 {
		if tickCount(n.trace.Counts, j) != int64(j)+1 || at(n.trace.AbsMax, j) != 0 {
			return Feature{}, false
		}
	}
	f := found("never", fmt.Sprintf("%s was 0 in every env in each of the %d substeps from the start of the run to the one in which it ran away: there was no contact", n.Name, last+1))
	return f.in(n, -1, 0, r.tick), true
}

// usualContact is MuJoCo's own time constant of a contact (solref), in s.
const usualContact = 0.02

// defaultContacts is X14 where there is no model beside the dump: contacts were
// active, and the step is as long as a contact takes unless somebody softened it.
func (c *Case) defaultContacts() (Feature, bool) {
	dt := c.timestep()
	if c.model != nil || dt < usualContact || !c.is(X2, no) {
		return Feature{}, false
	}
	f := found("coarse", fmt.Sprintf("the step of %s s is as long as MuJoCo's default time constant of a contact (%s s), or longer; no model beside the dump says that its contacts are softer", num(dt), num(usualContact)))
	f.Measured, f.Baseline = usualContact/dt, 2
	return f, true
}

// contactModel is X14: what the model says of its contacts, and where that is
// nothing against them, whether there ever was one.
func (c *Case) contactModel() Feature {
	out := c.contactAudit()
	if n := c.counterNamed("nefc"); out.Value == "none" && c.is(X2, no) && c.is(F3, yes) && n.len() > 0 {
		return idle("no geom of the model can touch another, and yet the solver struggled with constraints: equalities, or joints at their limits")
	}
	if f, ok := c.neverTouched(); ok && slices.Contains([]string{"hard", "coarse", "rough"}, out.Value) {
		return f
	}
	if out.known() && out.Value != no {
		return out
	}
	if f, ok := c.defaultContacts(); ok && !out.known() {
		return f
	}
	if f, ok := c.untouched(); ok {
		f.Half = !out.known() // a scene without anything to touch says little of why it ran away
		return f
	}
	return out
}
