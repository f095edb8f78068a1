package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/mjb"
)

// A spring of natural frequency w integrated with step dt is unstable under
// semi-implicit Euler beyond w dt = 2, and shaky beyond 1; models of the usual robots stay below 0.35. A damper integrated
// explicitly has the same limits for damping*dt/inertia.
const (
	sound    = 0.5
	shaky    = 1.0
	unstable = 2.0
)

// A motor whose full torque turns its joint this far (rad or m) within a single
// step from rest leaves the solver nothing to work with. Models of the usual
// suites stay below an eighth.
const (
	jerky = 0.25
	wild  = 1.0
)

// rk4 is mjtIntegrator's Runge-Kutta, which integrates dampers explicitly up to
// damping*dt/inertia = 2.78; rk4Ease scales that to the limit of 2.
const (
	rk4     = 1
	rk4Ease = 2 / 2.78
)

// servo is a spring and damper on a joint, an actuator's or its own, with what
// a step does to it.
type servo struct {
	name   string
	body   int
	kp, kd float64
	wdt    float64 // natural frequency times the step
	ddt    float64 // damping times the step over the inertia; 0 when integrated implicitly
	turn   float64 // what a motor's full torque moves in one step from rest, rad or m
}

// worst returns how far over its limit the servo is: 1 is shaky, 2 unstable.
func (s *servo) worst() float64 { return math.Max(s.wdt, s.ddt) }

// inverses returns one over the inertia that each dof moves: what the masses of
// the file say, or what the model's compilation found, whichever is lighter.
func (c *Case) inverses() []float64 {
	if c.model == nil || len(c.model.DofInvW0) == 0 {
		return nil
	}
	inv := slices.Clone(c.model.DofInvW0)
	for i, w := range inverseInertia(c.model) {
		inv[i] = math.Max(inv[i], w)
	}
	return inv
}

// servos returns the actuators that drive a joint, with the run's own step.
func (c *Case) servos() []servo { return c.servosAt(c.timestep()) }

// soundStep returns the run's step, or half the time constant of its shortest
// contact where the step is longer than that: what is unstable at the run's
// step only has the step to blame.
func (c *Case) soundStep() float64 {
	dt := c.timestep()
	if _, short := c.extremeContacts(); short != nil && short.SolRef[0] < rough*dt {
		return short.SolRef[0] / 2
	}
	return dt
}

// servosAt returns the actuators that drive a joint, with a step of dt.
func (c *Case) servosAt(dt float64) []servo {
	inv := c.inverses()
	if dt <= 0 || inv == nil {
		return nil
	}
	var out []servo
	for i := range c.model.Actuators {
		a := &c.model.Actuators[i]
		if a.Joint < 0 || a.Joint >= len(c.model.Joints) {
			continue
		}
		dof := c.model.Joints[a.Joint].DofAdr
		if dof >= 0 && dof < len(inv) {
			out = append(out, c.servo(a, dof, inv[dof], dt))
		}
	}
	return out
}

// involved returns those of some servos that can have had a part in what ran away.
func (c *Case) involved(all []servo) []servo {
	return slices.DeleteFunc(all, func(s servo) bool { return c.aside(s.body) })
}

// aside reports whether a body belongs to another mechanism than the one that ran
// away, and moved at ordinary speeds when that did: what drives it had no part.
func (c *Case) aside(body int) bool {
	r, v := c.root(), c.first(qvel)
	if !r.is(qvel, qacc) || r.row < 0 || r.col < 0 || r.f.to-r.f.from != c.model.NV || v.len() == 0 || v.to-v.from != c.model.NV {
		return false
	}
	tree, mine := c.treeOfDof(r.col), c.treeOf(body)
	k, row := v.upTo(r.tick), v.row(r.env)
	if tree < 0 || tree == mine || k < 0 || row < 0 {
		return false
	}
	for i := range c.model.Joints {
		j := &c.model.Joints[i]
		for d := j.DofAdr; c.treeOf(j.Body) == mine && d < j.DofAdr+j.Type.NV() && d < c.model.NV; d++ {
			if s := math.Abs(v.at(k, row, d)); !(s <= excited) {
				return false
			}
		}
	}
	return true
}

// undriven reports whether the mechanism that ran away has no actuator at all: then
// it is fast because something threw it.
func (c *Case) undriven(r *step) bool {
	if c.inverses() == nil || !r.is(qvel, qacc) || r.col < 0 || r.f.to-r.f.from != c.model.NV {
		return false
	}
	tree := c.treeOfDof(r.col)
	return tree >= 0 && !slices.ContainsFunc(c.model.Actuators, func(a mjb.Actuator) bool {
		return a.Joint < 0 || a.Joint >= len(c.model.Joints) || c.treeOf(c.model.Joints[a.Joint].Body) == tree
	})
}

// treeOfDof returns the body under the world that a degree of freedom hangs on, -1
// for none.
func (c *Case) treeOfDof(dof int) int {
	for i := range c.model.Joints {
		if j := &c.model.Joints[i]; j.DofAdr <= dof && dof < j.DofAdr+j.Type.NV() {
			return c.treeOf(j.Body)
		}
	}
	return -1
}

// treeOf returns the body under the world that a body hangs on.
func (c *Case) treeOf(body int) int {
	for body > 0 && body < len(c.model.Bodies) && c.model.Bodies[body].Parent > 0 {
		body = c.model.Bodies[body].Parent
	}
	return body
}

// servo judges an actuator. Its gear scales both the length that it sees and
// the force that it gives.
func (c *Case) servo(a *mjb.Actuator, dof int, inv, dt float64) servo {
	gear := a.Gear * a.Gear
	s := servo{name: a.Name, body: c.model.Joints[a.Joint].Body, kp: gear * math.Max(-a.BiasPrm[1], 0), kd: gear * math.Max(-a.BiasPrm[2], 0)}
	s.wdt = dt * math.Sqrt(s.kp*inv)
	if in := c.model.Opt.Integrator; in != 2 && in != 3 {
		s.ddt = dt * s.kd * inv
	}
	if a.BiasPrm[1] == 0 {
		drag := 1 + dt*c.damping(dof)*inv
		s.turn = dt * dt * inv * math.Abs(a.Gear) * strength(a) / drag
	}
	return s
}

// damping returns the damping of a dof, 0 where it is not known or negative.
func (c *Case) damping(dof int) float64 {
	if dof >= len(c.model.DofDamping) {
		return 0
	}
	return math.Max(c.model.DofDamping[dof], 0)
}

// strength returns the largest force of an actuator before its gear, that of a
// control of one where controls have no limit.
func strength(a *mjb.Actuator) float64 {
	most := 1.0
	if a.CtrlLimited {
		most = math.Max(math.Abs(a.CtrlRange[0]), math.Abs(a.CtrlRange[1]))
	}
	most *= math.Abs(a.GainPrm0)
	if a.ForceLimited {
		most = math.Min(most, math.Max(math.Abs(a.ForceRange[0]), math.Abs(a.ForceRange[1])))
	}
	return most
}

// passive returns the joints' own springs and, where the integrator takes them
// explicitly, dampers.
func (c *Case) passive(dt float64) []servo {
	inv := c.inverses()
	if dt <= 0 || inv == nil {
		return nil
	}
	var out []servo
	for _, j := range c.model.Joints {
		if j.Type != mjb.HingeJoint && j.Type != mjb.SlideJoint || j.DofAdr >= len(inv) {
			continue
		}
		s := servo{name: j.Name, body: j.Body, kp: math.Max(j.Stiffness, 0), wdt: dt * math.Sqrt(math.Max(j.Stiffness, 0)*inv[j.DofAdr])}
		if c.model.Opt.Integrator == rk4 {
			s.kd = c.damping(j.DofAdr)
			s.ddt = rk4Ease * dt * s.kd * inv[j.DofAdr]
		}
		out = append(out, s)
	}
	return out
}

// stiffest returns the servo that is closest to instability, nil without any.
func (c *Case) stiffest() *servo { return worstOf(c.servos(), (*servo).worst) }

// strongest returns the motor that is strongest for what it moves, nil without any.
func (c *Case) strongest() *servo {
	return worstOf(c.servos(), func(s *servo) float64 { return s.turn })
}

// worstOf returns the servo with the largest measure, nil without any.
func worstOf(all []servo, measure func(*servo) float64) *servo {
	var best *servo
	for i := range all {
		if best == nil || measure(&all[i]) > measure(best) {
			best = &all[i]
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
	dt := c.soundStep()
	if f, ok := c.selfDriven(dt); ok {
		return f
	}
	if f, ok := auditServo(worstOf(c.involved(c.servosAt(dt)), (*servo).worst), "actuator", dt); ok {
		f.Half = f.Value == "shaky" && c.unstableContact() // shaky is stable still, and that is not
		return f
	}
	if f, ok := auditServo(worstOf(c.involved(c.passive(dt)), (*servo).worst), "joint", dt); ok && f.Value == "unstable" {
		return f
	}
	if f, ok := c.auditMotor(dt); ok {
		return f
	}
	if f, ok := c.auditFilter(c.timestep()); ok {
		return f
	}
	if c.inverses() == nil {
		return unmeasured("a compiled model (.mjb) beside the dump: masses, inertias and gains")
	}
	s := worstOf(c.involved(c.servosAt(dt)), func(s *servo) float64 { return s.wdt })
	if s == nil || s.wdt == 0 {
		return found(no, "masses, inertias and armatures of the model are positive")
	}
	f := found(no, fmt.Sprintf("masses and inertias of the model are positive, and its stiffest actuator %s is stable at %s s (sqrt(kp/inertia)*dt %s)", s.name, num(dt), num(s.wdt)))
	if s.wdt > sound {
		f = idle(fmt.Sprintf("the stiffest actuator %s is neither soft nor unstable at %s s: sqrt(kp/inertia)*dt is %s", s.name, num(dt), num(s.wdt)))
	}
	f.Measured, f.Baseline = s.wdt, unstable
	return f
}

// selfDrive is the share by which the speed of a joint must grow by itself in a
// step: it doubles in seventy of them.
const selfDrive = 0.01

// selfDriven finds a joint whose actuators push with its speed, more than its own
// damping holds against: a damper with the wrong sign.
func (c *Case) selfDriven(dt float64) (Feature, bool) {
	inv := c.inverses()
	push, by := map[int]float64{}, map[int]*mjb.Actuator{}
	for i := range c.model.Actuators {
		a := &c.model.Actuators[i]
		if a.Joint < 0 || a.Joint >= len(c.model.Joints) || a.BiasPrm[2] <= 0 || isMuscle(*a) {
			continue
		}
		if dof := c.model.Joints[a.Joint].DofAdr; dof >= 0 && dof < len(inv) {
			push[dof] += a.Gear * a.Gear * a.BiasPrm[2]
			by[dof] = a
		}
	}
	for dof := range inv {
		net := push[dof] - c.damping(dof)
		if by[dof] == nil || dt*net*inv[dof] <= selfDrive {
			continue
		}
		f := found("impossible", fmt.Sprintf("the model holds a damper of the wrong sign: actuator %s pushes with the speed of its joint (%s per rad/s or m/s through its gear) and the joint's own damping is %s, so that any motion grows by itself",
			by[dof].Name, num(push[dof]), num(c.damping(dof))))
		f.Measured, f.Baseline = push[dof], c.damping(dof)
		return f, true
	}
	return Feature{}, false
}

// auditFilter judges the actuator filter with the shortest time constant: shorter
// than half a step its activation grows from step to step.
func (c *Case) auditFilter(dt float64) (Feature, bool) {
	var worst *mjb.Actuator
	for i := range c.model.Actuators {
		if a := &c.model.Actuators[i]; a.FilterTime > 0 && (worst == nil || a.FilterTime < worst.FilterTime) {
			worst = a
		}
	}
	if worst == nil || dt <= unstable*worst.FilterTime {
		return Feature{}, false
	}
	f := found("unstable", fmt.Sprintf("the filter of actuator %s has a time constant of %s s, less than half a step of %s s: its activation grows from step to step", worst.Name, num(worst.FilterTime), num(dt)))
	f.Measured, f.Baseline = dt/worst.FilterTime, unstable
	return f, true
}

// auditServo judges the servo that is closest to instability.
func auditServo(s *servo, what string, dt float64) (Feature, bool) {
	if s == nil || s.worst() <= shaky {
		return Feature{}, false
	}
	value := "shaky"
	if s.worst() > unstable {
		value = "unstable"
	}
	f := found(value, fmt.Sprintf("%s %s (kp %s, kd %s) is %s at a step of %s s: sqrt(kp/inertia)*dt is %s, damping*dt/inertia %s; 2 is the limit",
		what, s.name, num(s.kp), num(s.kd), value, num(dt), num(s.wdt), num(s.ddt)))
	f.Measured, f.Baseline = s.worst(), unstable
	return f, true
}

// auditMotor judges the motor that is strongest for what it moves.
func (c *Case) auditMotor(dt float64) (Feature, bool) {
	s := worstOf(c.involved(c.servosAt(dt)), func(s *servo) float64 { return s.turn })
	if s == nil || s.turn < jerky {
		return Feature{}, false
	}
	value := "shaky"
	if s.turn > wild {
		value = "unstable"
	}
	f := found(value, fmt.Sprintf("the full torque of actuator %s turns its joint by %s rad or m within one step of %s s from rest: too strong for what it moves, or that is too light",
		s.name, num(s.turn), num(dt)))
	f.Measured, f.Baseline = s.turn, wild
	return f, true
}
