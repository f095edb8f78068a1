package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/mjb"
)

// A position servo of natural frequency w integrated with step dt is unstable
// under semi-implicit Euler beyond w dt = 2, and shaky beyond 1.
const (
	shaky    = 1.0
	unstable = 2.0
)

// servo is an actuator of the model with what its step does to it.
type servo struct {
	name   string
	kp, kd float64
	wdt    float64 // natural frequency times the step
	ddt    float64 // damping times the step over the inertia; 0 when integrated implicitly
}

// servos returns the actuators that drive a joint, with the run's own step.
func (c *Case) servos() []servo {
	dt := c.timestep()
	if c.model == nil || dt <= 0 {
		return nil
	}
	var out []servo
	for _, a := range c.model.Actuators {
		if a.Joint < 0 || a.Joint >= len(c.model.Joints) {
			continue
		}
		dof := c.model.Joints[a.Joint].DofAdr
		if dof < 0 || dof >= len(c.model.DofInvW0) {
			continue
		}
		s := servo{name: a.Name, kp: math.Max(-a.BiasPrm[1], 0), kd: math.Max(-a.BiasPrm[2], 0)}
		inv := c.model.DofInvW0[dof]
		s.wdt = dt * math.Sqrt(math.Max(s.kp*inv, 0))
		if in := c.model.Opt.Integrator; in != 2 && in != 3 {
			s.ddt = dt * s.kd * inv
		}
		out = append(out, s)
	}
	return out
}

// stiffest returns the servo that is closest to instability, nil without any.
func (c *Case) stiffest() *servo {
	var best *servo
	for _, s := range c.servos() {
		if best == nil || math.Max(s.wdt, s.ddt) > math.Max(best.wdt, best.ddt) {
			best = &s
		}
	}
	return best
}

// modelAudit is X6: something in the model file cannot work.
func (c *Case) modelAudit() Feature {
	if c.model == nil {
		return unmeasured("a model beside the dump")
	}
	if s := badArray(c.model); s != "" {
		return found("impossible", "the model holds "+s)
	}
	s := c.stiffest()
	if s == nil || s.wdt == 0 && s.ddt == 0 {
		return found(no, "masses, inertias and armatures of the model are positive")
	}
	worst := math.Max(s.wdt, s.ddt)
	if worst > shaky {
		value, word := "shaky", "shaky"
		if worst > unstable {
			value, word = "unstable", "unstable"
		}
		f := found(value, fmt.Sprintf("actuator %s (kp %s, kd %s) is %s at a step of %s s: sqrt(kp/inertia)*dt is %s, damping*dt/inertia %s; 2 is the limit",
			s.name, num(s.kp), num(s.kd), word, num(c.timestep()), num(s.wdt), num(s.ddt)))
		f.Measured, f.Baseline = worst, unstable
		return f
	}
	f := found(no, fmt.Sprintf("masses and inertias of the model are positive, and its stiffest actuator %s is stable at %s s (sqrt(kp/inertia)*dt %s)", s.name, num(c.timestep()), num(s.wdt)))
	f.Measured, f.Baseline = worst, unstable
	return f
}

// badArray names the first array of a model that holds an impossible value.
func badArray(m *mjb.Model) string {
	if !hasMasses(m) {
		return ""
	}
	moving := map[int]bool{}
	for _, j := range m.Joints {
		moving[j.Body] = true
	}
	for i, b := range m.Bodies {
		switch {
		case !finite(b.Mass) || b.Mass < 0:
			return fmt.Sprintf("a mass of %s kg (body %s)", num(b.Mass), b.Name)
		case moving[i] && b.Mass == 0 && leaf(m, i):
			return fmt.Sprintf("a moving body without mass (%s)", b.Name)
		case moving[i] && b.Mass > 0 && negativeInertia(b.Inertia):
			return fmt.Sprintf("an inertia below zero (body %s)", b.Name)
		}
	}
	for i, v := range m.DofArmature {
		if !finite(v) || v < 0 {
			return fmt.Sprintf("an armature of %s (dof %d)", num(v), i)
		}
	}
	for i, v := range m.DofDamping {
		if !finite(v) || v < 0 {
			return fmt.Sprintf("a damping of %s (dof %d)", num(v), i)
		}
	}
	return ""
}

// hasMasses reports whether a model gives masses at all: one read from an MJCF
// may not.
func hasMasses(m *mjb.Model) bool {
	for _, b := range m.Bodies {
		if b.Mass != 0 {
			return true
		}
	}
	return false
}

// leaf reports whether no body hangs on body i.
func leaf(m *mjb.Model, i int) bool {
	for _, b := range m.Bodies {
		if b.Parent == i {
			return false
		}
	}
	return true
}

// negativeInertia reports whether a diagonal inertia is impossible.
func negativeInertia(v [3]float64) bool {
	for _, x := range v {
		if !finite(x) || x < 0 {
			return true
		}
	}
	return false
}
