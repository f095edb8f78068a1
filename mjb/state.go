package mjb

import (
	"fmt"
	"strings"
)

// Part is a run of columns of a state vector: one of mjtState's pieces.
type Part struct {
	Name     string // "time", "qpos", "qvel", "act", "history", "mocap_pos", ...
	From, To int    // columns [From, To)
}

// stateBit is a bit of mjtState with the versions in which it stands there.
type stateBit struct {
	name     string
	bit      int
	physics  bool // part of mjSTATE_PHYSICS
	from, to version
}

// StateParts returns the parts of a state vector of the given mjtState bits, in
// the order of their bits; a part without columns is left out. A spec of 0 means
// the physics state. The bits mean different things in different versions: a bit
// that the model's version does not know is an error. For a model that does not
// know its version (MJCF), a spec is taken only when it is some version's
// physics state, with or without the mocap bodies.
func (m *Model) StateParts(spec int) ([]Part, error) {
	bits := bitsOf(m.version)
	if m.version == 0 {
		bits = bitsOf(guessVersion(spec))
	}
	if spec == 0 {
		spec = mask(bits, isPhysics)
	}
	if len(bits) == 0 {
		return nil, fmt.Errorf("state spec %d: the model does not say its MuJoCo version, on which the bits depend", spec)
	}
	if rest := spec &^ mask(bits, all); rest != 0 {
		return nil, fmt.Errorf("state spec %d: bits %#x mean nothing in MuJoCo %s", spec, rest, m.versionText())
	}
	return m.layOut(bits, spec), nil
}

// PartsForSize returns the parts of a state vector of size columns. A spec of 0
// stands for one that is not known: then the physics state is tried, alone and
// with mocap bodies, time and plugin state, and then without the parts that were
// added to it over the years. The error says what would have fitted.
func (m *Model) PartsForSize(spec, size int) ([]Part, error) {
	if spec != 0 {
		parts, err := m.StateParts(spec)
		if err != nil {
			return nil, err
		}
		if got := width(parts); got != size {
			return nil, fmt.Errorf("state spec %d makes %d columns (%s), the state has %d", spec, got, describe(parts), size)
		}
		return parts, nil
	}
	bits := bitsOf(m.version)
	if m.version == 0 {
		bits = bitsOf(newest)
	}
	var first []Part
	for _, s := range likely(bits) {
		parts := m.layOut(bits, s)
		if width(parts) == size {
			return parts, nil
		}
		if first == nil {
			first = parts
		}
	}
	return nil, fmt.Errorf("the state has %d columns, the model's physics state %d (%s), or %d with its mocap bodies",
		size, width(first), describe(first), width(first)+7*m.NMocap)
}

// likely lists the specs that a dump may have, the most common first.
func likely(bits []stateBit) []int {
	physics := mask(bits, isPhysics)
	core := mask(bits, isCore)
	mocap := mask(bits, isMocap)
	full := physics | mask(bits, func(b stateBit) bool { return b.name == "time" || b.name == "plugin" })
	return []int{physics, physics | mocap, full, full | mocap, mask(bits, all), core, core | mocap}
}

func all(stateBit) bool         { return true }
func isPhysics(b stateBit) bool { return b.physics }
func isMocap(b stateBit) bool   { return strings.HasPrefix(b.name, "mocap_") }

// isCore reports what has been physics state in every version.
func isCore(b stateBit) bool { return b.name == "qpos" || b.name == "qvel" || b.name == "act" }

// bitsOf returns the bits of a version in ascending order, none for version 0.
func bitsOf(v version) []stateBit {
	var bits []stateBit
	for _, b := range stateBits {
		if holds(v, b.from, b.to) {
			bits = append(bits, b)
		}
	}
	return bits
}

// guessVersion returns a version in which spec is the physics state, or that
// with the mocap bodies: the parts do not depend on which. It returns 0 when
// there is none, and the newest for a spec of 0.
func guessVersion(spec int) version {
	for i := len(releases) - 1; i >= 0; i-- {
		bits := bitsOf(releases[i].version)
		physics := mask(bits, isPhysics)
		if spec == 0 || spec == physics || spec == physics|mask(bits, isMocap) {
			return releases[i].version
		}
	}
	return 0
}

// mask returns the bits for which in holds.
func mask(bits []stateBit, in func(stateBit) bool) int {
	spec := 0
	for _, b := range bits {
		if in(b) {
			spec |= 1 << b.bit
		}
	}
	return spec
}

// layOut places the parts that spec selects one behind the other.
func (m *Model) layOut(bits []stateBit, spec int) []Part {
	parts := make([]Part, 0, len(bits))
	at := 0
	for _, b := range bits {
		if n := m.columns(b.name); spec>>b.bit&1 == 1 && n > 0 {
			parts = append(parts, Part{b.name, at, at + n})
			at += n
		}
	}
	return parts
}

// columns returns how many columns a part of the state has.
func (m *Model) columns(part string) int {
	switch part {
	case "time":
		return 1
	case "qpos":
		return m.NQ
	case "qvel", "warmstart", "qfrc_applied":
		return m.NV
	case "act":
		return m.NA
	case "history":
		return m.NHistory
	case "ctrl":
		return m.NU
	case "xfrc_applied":
		return 6 * m.NBody
	case "eq_active":
		return m.NEq
	case "mocap_pos":
		return 3 * m.NMocap
	case "mocap_quat":
		return 4 * m.NMocap
	case "userdata":
		return m.NUserData
	case "plugin":
		return m.NPluginState
	case "plastic":
		return m.NPlastic
	}
	panic("mjb: state part " + part + " has no size")
}

// versionText names the version in messages.
func (m *Model) versionText() string {
	if m.Version == "" {
		return m.version.String()
	}
	return m.Version
}

// width returns the columns of all parts.
func width(parts []Part) int {
	if len(parts) == 0 {
		return 0
	}
	return parts[len(parts)-1].To
}

// describe lists the parts with their columns: "qpos 21, qvel 18".
func describe(parts []Part) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprintf("%s %d", p.Name, p.To-p.From)
	}
	return strings.Join(words, ", ")
}
