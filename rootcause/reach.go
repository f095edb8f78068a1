package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/mjb"
)

// beyondReach is how many times what gravity and the actuators can give a joint must
// gain in a step to say that neither did it.
const beyondReach = 10.0

// outOfReach is X27, for dumps without controls: whether the model lets an action
// drive a joint as hard as it likes, and where it does not, whether the step in
// which it ran away is more than gravity, springs and actuators could give.
func (c *Case) outOfReach() Feature {
	r, v, inv := c.root(), c.first(qvel), c.inverses()
	if c.first(ctrl, action, mean) != nil {
		return idle("the commands are recorded")
	}
	if inv == nil || v.len() == 0 || v.to-v.from != len(inv) || c.timestep() <= 0 {
		return unmeasured("qvel beside a compiled model (.mjb): what its actuators can give")
	}
	if !r.is(body...) || v.row(r.env) < 0 {
		return idle("no physics that runs away")
	}
	if slices.ContainsFunc(c.model.Actuators, isMuscle) {
		return idle("the model has muscles, whose force their length decides")
	}
	if a := c.unlimited(); a != nil {
		f := found("open", fmt.Sprintf("actuator %s has neither a range of controls nor one of forces: an action can drive its joint as hard as it likes", a.Name))
		f.Env = r.env
		return f
	}
	row, k := v.row(r.env), v.upTo(r.tick)
	if k < 1 || v.frames.Ticks[k] != r.tick || v.cell(k-1, row).bad > 0 || v.cell(k, row).bad > 0 {
		return idle("no two finite states where it ran away")
	}
	dof, gain, most := c.hardestGain(v, k, row, inv)
	if dof < 0 {
		return idle("no hinge or slide that gained speed")
	}
	value := no
	if gain > beyondReach*most {
		value = yes
	}
	f := found(value, fmt.Sprintf("%s of env %d gained %s in the step in which it ran away; gravity, springs and actuators at their limits can give it %s at most",
		v.label(dof), r.env, c.quantity(v, dof, gain), c.quantity(v, dof, most)))
	f.Measured, f.Baseline = gain, most
	return f.in(v, r.env, dof, r.tick)
}

// isMuscle reports whether an actuator is a muscle by its parameters: the second of
// its bias is a length, above zero, where a servo has a gain below zero.
func isMuscle(a mjb.Actuator) bool { return a.BiasPrm[1] > 0 }

// unlimited returns an actuator of a joint without any limit, nil without one.
func (c *Case) unlimited() *mjb.Actuator {
	for i := range c.model.Actuators {
		if a := &c.model.Actuators[i]; a.Joint >= 0 && !a.CtrlLimited && !a.ForceLimited {
			return a
		}
	}
	return nil
}

// hardestGain returns the hinge or slide that gained most speed in frame k against
// what it could have gained in a step; -1 without any. Of the inverse of the inertia
// only the diagonal is known, and no element beside it is larger than the root of
// the product of the two on it.
func (c *Case) hardestGain(v *field, k, row int, inv []float64) (dof int, gain, most float64) {
	push := 0.0
	for i, torque := range c.torques(v, k-1, row) {
		push += torque * math.Sqrt(inv[i])
	}
	dof = -1
	for _, j := range c.model.Joints {
		if j.Type != mjb.HingeJoint && j.Type != mjb.SlideJoint || j.DofAdr >= len(inv) {
			continue
		}
		fast := v.cell(k-1, row).max // what turns throws about what hangs on it by its square
		can := c.timestep() * (push*math.Sqrt(inv[j.DofAdr]) + fast*fast)
		if is := math.Abs(v.at(k, row, j.DofAdr) - v.at(k-1, row, j.DofAdr)); dof < 0 || is*most > gain*can {
			dof, gain, most = j.DofAdr, is, can
		}
	}
	return dof, gain, most
}

// torques returns the most that gravity, springs, dampers and actuators can give
// each hinge or slide in a frame, in N or N m.
func (c *Case) torques(v *field, i, row int) []float64 {
	m := c.model
	out := make([]float64, v.to-v.from)
	poses := m.Kinematics(m.Qpos0, nil, nil)
	for n := range m.Joints {
		j := &m.Joints[n]
		if j.Type != mjb.HingeJoint && j.Type != mjb.SlideJoint || j.DofAdr >= len(out) {
			continue
		}
		if poses != nil {
			out[j.DofAdr] = weight(m, poses, j)
		}
		out[j.DofAdr] += c.damping(j.DofAdr)*math.Abs(v.at(i, row, j.DofAdr)) + math.Max(j.Stiffness, 0)*math.Pi
	}
	for n := range m.Actuators {
		a := &m.Actuators[n]
		if a.Joint < 0 || a.Joint >= len(m.Joints) || m.Joints[a.Joint].DofAdr >= len(out) {
			continue
		}
		dof := m.Joints[a.Joint].DofAdr
		force := strength(a)
		if !a.ForceLimited { // a servo also pulls by where it is and how fast
			force += math.Abs(a.BiasPrm[0]) + math.Abs(a.BiasPrm[1]*a.Gear)*math.Pi + math.Abs(a.BiasPrm[2]*a.Gear*v.at(i, row, dof))
		}
		out[dof] += math.Abs(a.Gear) * force
	}
	return out
}

// weight returns the largest force or torque of gravity on a joint.
func weight(m *mjb.Model, poses []mjb.Pose, j *mjb.Joint) float64 {
	g := math.Hypot(math.Hypot(m.Opt.Gravity[0], m.Opt.Gravity[1]), m.Opt.Gravity[2])
	anchor := poses[j.Body].At(j.Pos)
	sum := 0.0
	for i := range hanging(m, j.Body) {
		b, arm := &m.Bodies[i], 1.0
		if at := poses[i].At(b.IPos); j.Type == mjb.HingeJoint {
			arm = math.Hypot(math.Hypot(at[0]-anchor[0], at[1]-anchor[1]), at[2]-anchor[2])
		}
		sum += b.Mass * g * arm
	}
	return sum
}
