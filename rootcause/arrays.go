package rootcause

import (
	"fmt"

	"github.com/nanguard/nanguard/mjb"
)

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
	for _, j := range m.Joints {
		if !finite(j.Stiffness) || j.Stiffness < 0 {
			return fmt.Sprintf("a stiffness of %s (joint %s)", num(j.Stiffness), j.Name)
		}
	}
	for i, v := range m.DofFriction {
		if !finite(v) || v < 0 {
			return fmt.Sprintf("a friction loss of %s (dof %d)", num(v), i)
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
