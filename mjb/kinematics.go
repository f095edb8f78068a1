package mjb

import "math"

// Pose is where a body is: position in m and orientation w x y z, in the world.
type Pose struct {
	Pos  [3]float64
	Quat [4]float64
}

// Rotate turns a vector of the body's frame into the world's.
func (p *Pose) Rotate(v [3]float64) [3]float64 { return rotate(p.Quat, v) }

// At returns where a point of the body's frame is in the world.
func (p *Pose) At(v [3]float64) [3]float64 { return add(p.Pos, rotate(p.Quat, v)) }

// Kinematics returns the pose of every body for a configuration, as
// mj_kinematics computes it. mocapPos and mocapQuat hold three and four numbers
// per mocap body; nil leaves these bodies where the model puts them. It returns
// nil when a length does not fit the model or when the model was read from MJCF.
// Numbers that are not finite make poses that are not.
func (m *Model) Kinematics(qpos, mocapPos, mocapQuat []float64) []Pose {
	if len(qpos) != m.NQ || len(m.Qpos0) != m.NQ || len(m.Bodies) == 0 ||
		mocapPos != nil && len(mocapPos) != 3*m.NMocap || mocapQuat != nil && len(mocapQuat) != 4*m.NMocap {
		return nil
	}
	poses := make([]Pose, len(m.Bodies))
	poses[0] = Pose{Quat: [4]float64{1}}
	joints := m.Joints
	for len(joints) > 0 && joints[0].Body == 0 {
		joints = joints[1:]
	}
	for i := 1; i < len(m.Bodies); i++ {
		n := 0
		for n < len(joints) && joints[n].Body == i {
			n++
		}
		poses[i] = m.move(&m.Bodies[i], joints[:n], qpos, poses, mocapPos, mocapQuat)
		joints = joints[n:]
	}
	return poses
}

// move places a body by its own joints, its parent being placed.
func (m *Model) move(b *Body, joints []Joint, qpos []float64, poses []Pose, mocapPos, mocapQuat []float64) Pose {
	if len(joints) == 1 && joints[0].Type == FreeJoint {
		q := qpos[joints[0].QposAdr:]
		return Pose{[3]float64(q), normalized([4]float64(q[3:]))}
	}
	local := Pose{b.Pos, b.Quat}
	if b.Mocap >= 0 && mocapPos != nil {
		local.Pos = [3]float64(mocapPos[3*b.Mocap:])
	}
	if b.Mocap >= 0 && mocapQuat != nil {
		local.Quat = normalized([4]float64(mocapQuat[4*b.Mocap:]))
	}
	parent := poses[b.Parent]
	p := Pose{add(parent.Pos, rotate(parent.Quat, local.Pos)), product(parent.Quat, local.Quat)}
	for i := range joints {
		j := &joints[i]
		p = turn(p, j, qpos[j.QposAdr:], m.Qpos0[j.QposAdr:])
	}
	p.Quat = normalized(p.Quat)
	return p
}

// turn moves a body by one joint.
func turn(p Pose, j *Joint, q, q0 []float64) Pose {
	if j.Type == SlideJoint {
		axis := rotate(p.Quat, j.Axis)
		d := q[0] - q0[0]
		return Pose{add(p.Pos, [3]float64{d * axis[0], d * axis[1], d * axis[2]}), p.Quat}
	}
	var by [4]float64
	switch j.Type {
	case BallJoint:
		by = normalized([4]float64(q))
	case HingeJoint:
		by = axisAngle(j.Axis, q[0]-q0[0])
	default: // a free joint among others: no model has it
		return p
	}
	// Turn about the anchor, which stays where it is.
	anchor := add(p.Pos, rotate(p.Quat, j.Pos))
	p.Quat = product(p.Quat, by)
	arm := rotate(p.Quat, j.Pos)
	p.Pos = [3]float64{anchor[0] - arm[0], anchor[1] - arm[1], anchor[2] - arm[2]}
	return p
}

func add(a, b [3]float64) [3]float64 { return [3]float64{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// rotate turns v by the unit quaternion q.
func rotate(q [4]float64, v [3]float64) [3]float64 {
	// v + 2w(u x v) + 2u x (u x v), u being q's vector part.
	t := cross([3]float64(q[1:]), v)
	t = [3]float64{2 * t[0], 2 * t[1], 2 * t[2]}
	c := cross([3]float64(q[1:]), t)
	return [3]float64{v[0] + q[0]*t[0] + c[0], v[1] + q[0]*t[1] + c[1], v[2] + q[0]*t[2] + c[2]}
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func product(a, b [4]float64) [4]float64 {
	return [4]float64{
		a[0]*b[0] - a[1]*b[1] - a[2]*b[2] - a[3]*b[3],
		a[0]*b[1] + a[1]*b[0] + a[2]*b[3] - a[3]*b[2],
		a[0]*b[2] - a[1]*b[3] + a[2]*b[0] + a[3]*b[1],
		a[0]*b[3] + a[1]*b[2] - a[2]*b[1] + a[3]*b[0],
	}
}

func axisAngle(axis [3]float64, angle float64) [4]float64 {
	s, c := math.Sincos(angle / 2)
	return [4]float64{c, s * axis[0], s * axis[1], s * axis[2]}
}

// normalized returns q at unit length; no rotation when q is too short, as MuJoCo does.
func normalized(q [4]float64) [4]float64 {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	if n < 1e-15 {
		return [4]float64{1}
	}
	return [4]float64{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}
