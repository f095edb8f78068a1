package mjb

import (
	"strconv"
)

// Suffixes of the columns of joints and bodies with more than one.
var (
	freeQpos = []string{" x", " y", " z", " qw", " qx", " qy", " qz"}
	freeQvel = []string{" vx", " vy", " vz", " wx", " wy", " wz"}
	wrench   = []string{" fx", " fy", " fz", " tx", " ty", " tz"}
	single   = []string{""}
)

// StateLabels returns one label per column of the parts: "qpos left_knee",
// "qvel root vz", "act index_muscle", "mocap_pos target x". What has no name in
// the model goes by its number: "qpos joint3", "act actuator2[1]", "history[0]".
func (m *Model) StateLabels(parts []Part) []string {
	labels := make([]string, 0, width(parts))
	for _, p := range parts {
		n := max(p.To-p.From, 0)
		names := m.partLabels(p.Name)
		for i := range n {
			switch {
			case len(names) == n && names[i] != "":
				labels = append(labels, p.Name+" "+names[i])
			case p.Name == "time":
				labels = append(labels, p.Name)
			default:
				labels = append(labels, index(p.Name, i))
			}
		}
	}
	return labels
}

// partLabels names the columns of a part; nil for one whose columns have none.
func (m *Model) partLabels(part string) []string {
	switch part {
	case "qpos":
		return m.positions()
	case "qvel", "warmstart", "qfrc_applied":
		return m.dofs()
	case "act":
		return m.activations()
	case "ctrl":
		return m.controls()
	case "xfrc_applied":
		return m.wrenchLabels()
	case "mocap_pos":
		return m.mocapLabels(freeQpos[:3])
	case "mocap_quat":
		return m.mocapLabels(freeQpos[3:])
	}
	return nil
}

// QposLabels names the columns of a field as wide as qpos: "left_knee", "root z";
// "qpos[7]" for one whose joint is not known.
func (m *Model) QposLabels() []string { return numbered(m.positions(), "qpos") }

// DofLabels names the columns of a field as wide as qvel: "left_knee", "root vz";
// "dof[7]" for one whose joint is not known.
func (m *Model) DofLabels() []string { return numbered(m.dofs(), "dof") }

// CtrlLabels names the columns of a field as wide as ctrl: "left_knee", "hand[1]"
// for an actuator with several controls; "ctrl[7]" for one that is not known.
func (m *Model) CtrlLabels() []string { return numbered(m.controls(), "ctrl") }

// positions names the columns of qpos; "" where no joint is known.
func (m *Model) positions() []string {
	return m.joints(m.NQ, freeQpos, func(j *Joint) int { return j.QposAdr })
}

// dofs names the columns of qvel; "" where no joint is known.
func (m *Model) dofs() []string {
	return m.joints(m.NV, freeQvel, func(j *Joint) int { return j.DofAdr })
}

// joints names n columns, of which each joint has some from its address on: as
// free lists them for a free joint, the turning ones for a ball, one for others.
func (m *Model) joints(n int, free []string, address func(*Joint) int) []string {
	labels := make([]string, n)
	for i := range m.Joints {
		suffix := single
		switch m.Joints[i].Type {
		case FreeJoint:
			suffix = free
		case BallJoint:
			suffix = free[3:]
		}
		put(labels, address(&m.Joints[i]), m.jointName(i), suffix)
	}
	return labels
}

// controls names the columns of ctrl.
func (m *Model) controls() []string {
	labels := make([]string, m.NU)
	for i, a := range m.Actuators {
		put(labels, a.CtrlAdr, m.actuatorName(i), several(a.NCtrl))
	}
	return labels
}

// activations names the columns of act.
func (m *Model) activations() []string {
	labels := make([]string, m.NA)
	for i, a := range m.Actuators {
		if a.NAct > 0 {
			put(labels, a.ActAdr, m.actuatorName(i), several(a.NAct))
		}
	}
	return labels
}

// mocapLabels names columns per mocap body, in the order of mocap ids.
func (m *Model) mocapLabels(suffix []string) []string {
	labels := make([]string, m.NMocap*len(suffix))
	for i, b := range m.Bodies {
		if b.Mocap >= 0 {
			put(labels, b.Mocap*len(suffix), named(b.Name, "body", i), suffix)
		}
	}
	return labels
}

// wrenchLabels names force and torque per body.
func (m *Model) wrenchLabels() []string {
	labels := make([]string, m.NBody*len(wrench))
	for i, b := range m.Bodies {
		put(labels, i*len(wrench), named(b.Name, "body", i), wrench)
	}
	return labels
}

func (m *Model) jointName(i int) string    { return named(m.Joints[i].Name, "joint", i) }
func (m *Model) actuatorName(i int) string { return named(m.Actuators[i].Name, "actuator", i) }

// named returns the name, or kind and number for what has none.
func named(name, kind string, i int) string {
	if name == "" {
		return kind + strconv.Itoa(i)
	}
	return name
}

// several returns the suffixes of n columns: none for one, "[0]", "[1]", ... for more.
func several(n int) []string {
	if n == 1 {
		return single
	}
	suffix := make([]string, max(n, 0))
	for i := range suffix {
		suffix[i] = index("", i)
	}
	return suffix
}

// put writes a label for each suffix, as far as there is room.
func put(labels []string, at int, name string, suffix []string) {
	for i, s := range suffix {
		if k := at + i; k >= 0 && k < len(labels) {
			labels[k] = name + s
		}
	}
}

// numbered fills the gaps among the labels.
func numbered(labels []string, kind string) []string {
	for i, s := range labels {
		if s == "" {
			labels[i] = index(kind, i)
		}
	}
	return labels
}

func index(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }
