package rootcause

import (
	"iter"

	"github.com/nanguard/nanguard/mjb"
)

// inverseInertia returns for every degree of freedom of hinges and slides one
// over the inertia that it moves in the model's own pose: the bodies that hang
// on it and its armature. It is the least that the inverse can be, since bodies
// that are free to give way make the rest lighter still. It is computed from
// the masses that the file holds now; dof_invweight0 is as old as the model's
// compilation. Other dofs are 0;
// it is nil where the model does not say enough.
func inverseInertia(m *mjb.Model) []float64 {
	if len(m.DofArmature) != m.NV || len(m.DofInvW0) != m.NV {
		return nil
	}
	poses := m.Kinematics(m.Qpos0, nil, nil)
	if poses == nil {
		return nil
	}
	inv := make([]float64, m.NV)
	for i := range m.Joints {
		j := &m.Joints[i]
		if j.Type != mjb.HingeJoint && j.Type != mjb.SlideJoint || j.DofAdr >= m.NV {
			continue
		}
		if in := carried(m, poses, j) + m.DofArmature[j.DofAdr]; in > 0 {
			inv[j.DofAdr] = 1 / in
		}
	}
	return inv
}

// carried returns the inertia of the bodies that hang on a joint, in kg for a
// slide and in kg m^2 about the axis of a hinge.
func carried(m *mjb.Model, poses []mjb.Pose, j *mjb.Joint) float64 {
	axis := poses[j.Body].Rotate(j.Axis)
	anchor := poses[j.Body].At(j.Pos)
	sum := 0.0
	for i := range hanging(m, j.Body) {
		if b := &m.Bodies[i]; j.Type == mjb.SlideJoint {
			sum += b.Mass
		} else {
			sum += aboutAxis(b, &poses[i], anchor, axis)
		}
	}
	return sum
}

// hanging yields a body and all that hang on it; parents stand before children.
func hanging(m *mjb.Model, body int) iter.Seq[int] {
	return func(yield func(int) bool) {
		below := make([]bool, len(m.Bodies))
		for i := range m.Bodies {
			if below[i] = i == body || i > 0 && below[m.Bodies[i].Parent]; below[i] && !yield(i) {
				return
			}
		}
	}
}

// aboutAxis returns a body's inertia about an axis through a point, by its
// principal moments and the distance of its centre of mass.
func aboutAxis(b *mjb.Body, p *mjb.Pose, anchor, axis [3]float64) float64 {
	arm := p.At(b.IPos)
	along, square := 0.0, 0.0
	for k := range arm {
		arm[k] -= anchor[k]
		along += arm[k] * axis[k]
		square += arm[k] * arm[k]
	}
	in := b.Mass * (square - along*along)
	frame := mjb.Pose{Quat: b.IQuat}
	for k := range b.Inertia {
		unit := [3]float64{}
		unit[k] = 1
		principal := p.Rotate(frame.Rotate(unit))
		c := principal[0]*axis[0] + principal[1]*axis[1] + principal[2]*axis[2]
		in += b.Inertia[k] * c * c
	}
	return in
}
