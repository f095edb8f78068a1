package mjb

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// model numbers what was read as MuJoCo does: bodies depth first, joints in the
// order of their bodies, activations in the order of their actuators.
func (p *mjcf) model() (*Model, error) {
	p.world.name = "world"
	m := &Model{Opt: p.opt, Warnings: p.warnings}
	if err := p.addBody(m, &p.world, 0); err != nil {
		return nil, err
	}
	byName := make(map[string]int, len(m.Joints))
	for i, j := range m.Joints {
		byName[j.Name] = i
	}
	for _, e := range p.actuators {
		if err := p.addActuator(m, e, byName); err != nil {
			return nil, err
		}
	}
	m.NBody, m.NJnt, m.NU = len(m.Bodies), len(m.Joints), len(m.Actuators)
	return m, nil
}

// addBody adds a body with everything below it.
func (p *mjcf) addBody(m *Model, b *mjcfBody, parent int) error {
	id := len(m.Bodies)
	body := Body{Name: b.name, Parent: parent, Mocap: -1}
	if b.mocap {
		body.Mocap = m.NMocap
		m.NMocap++
	}
	m.Bodies = append(m.Bodies, body)
	for _, j := range b.joints {
		t, err := p.jointType(j)
		if err != nil {
			return err
		}
		m.Joints = append(m.Joints, Joint{Name: j.name, Type: t, QposAdr: m.NQ, DofAdr: m.NV, Body: id})
		m.NQ, m.NV = m.NQ+t.NQ(), m.NV+t.NV()
	}
	for _, c := range b.children {
		if err := p.addBody(m, c, id); err != nil {
			return err
		}
	}
	return nil
}

// jointType finds the type of a joint: its own, its class's, or hinge.
func (p *mjcf) jointType(j mjcfJoint) (JointType, error) {
	kind := j.kind
	for class := j.class; kind == ""; {
		c, ok := p.classes[class]
		if !ok {
			return 0, fmt.Errorf("joint %q has the unknown class %q", j.name, class)
		}
		if kind = c.kind; kind != "" {
			break
		}
		if class == mainClass {
			return HingeJoint, nil
		}
		class = c.outer
	}
	for t := FreeJoint; t <= HingeJoint; t++ {
		if kind == t.String() {
			return t, nil
		}
	}
	return 0, fmt.Errorf("joint %q has the unknown type %q", j.name, kind)
}

// addActuator adds an actuator.
func (p *mjcf) addActuator(m *Model, e xml.StartElement, joints map[string]int) error {
	n, err := p.activations(e)
	if err != nil {
		return err
	}
	a := Actuator{Name: nameOf(e), Joint: -1, CtrlAdr: len(m.Actuators), NCtrl: 1, ActAdr: -1, NAct: n}
	for _, target := range [...]string{attr(e, "joint"), attr(e, "jointinparent")} {
		if i, ok := joints[target]; ok && target != "" {
			a.Joint = i
		}
	}
	if n > 0 {
		a.ActAdr = m.NA
		m.NA += n
	}
	if m.NA > maxColumns {
		return fmt.Errorf("more than %d activations", maxColumns)
	}
	m.Actuators = append(m.Actuators, a)
	return nil
}

// stateful are the kinds of actuator that always have one activation.
var stateful = []string{"intvelocity", "cylinder", "muscle"}

// givesState reports whether a default may give actuators an activation.
func givesState(e xml.StartElement) bool {
	return slices.Contains(stateful, e.Name.Local) ||
		attr(e, "dyntype") != "" || attr(e, "timeconst") != "" || attr(e, "actdim") != ""
}

// activations returns how many activations an actuator has.
func (p *mjcf) activations(e xml.StartElement) (int, error) {
	kind, dyn, constant := e.Name.Local, attr(e, "dyntype"), attr(e, "timeconst")
	open := kind == "general" && dyn == "" || kind == "position" && constant == ""
	switch {
	case open && p.dynamic:
		return 0, &NotSimpleError{kind, "takes its dynamics from the defaults"}
	case open, slices.Contains([]string{"motor", "velocity", "damper", "adhesion"}, kind), dyn == "none":
		return 0, nil
	case slices.Contains(stateful, kind):
		return 1, nil
	case kind == "position":
		var c float64
		if err := numbers(constant, &c); err != nil || c == 0 {
			return 0, err
		}
		return 1, nil
	case kind != "general":
		return 0, &NotSimpleError{kind, "has a number of controls or activations that is not told"}
	}
	if n := attr(e, "actdim"); n != "" {
		var k int
		if err := whole(n, &k); err != nil || k > maxColumns {
			return 0, fmt.Errorf("actuator %q has the actdim %q", attr(e, "name"), n)
		}
		if k >= 0 {
			return k, nil
		}
	}
	return 1, nil
}

// words of MJCF for the numbers of Options.
var (
	solvers     = []string{"PGS", "CG", "Newton"}
	integrators = []string{"Euler", "RK4", "implicit", "implicitfast", "discrete"}
	cones       = []string{"pyramidal", "elliptic"}
)

// options takes the attributes of an <option> element. One that makes no sense
// leaves the default, with a warning: it does not touch the names.
func (p *mjcf) options(e xml.StartElement) {
	o := &p.opt
	for _, a := range e.Attr {
		var err error
		switch a.Name.Local {
		case "timestep":
			err = numbers(a.Value, &o.Timestep)
		case "impratio":
			err = numbers(a.Value, &o.ImpRatio)
		case "gravity":
			err = numbers(a.Value, &o.Gravity[0], &o.Gravity[1], &o.Gravity[2])
		case "iterations":
			err = whole(a.Value, &o.Iterations)
		case "ls_iterations":
			err = whole(a.Value, &o.LSIterations)
		case "solver":
			err = keyword(a.Value, solvers, &o.Solver)
		case "integrator":
			err = keyword(a.Value, integrators, &o.Integrator)
		case "cone":
			err = keyword(a.Value, cones, &o.Cone)
		}
		if err != nil {
			p.warnings = append(p.warnings, fmt.Errorf("mjcf: option %s: %w", a.Name.Local, err))
		}
	}
}

// numbers parses as many numbers as there are places for them, all or none.
func numbers(text string, to ...*float64) error {
	words := strings.Fields(text)
	if len(words) != len(to) {
		return fmt.Errorf("%q has %d numbers, want %d", text, len(words), len(to))
	}
	values := make([]float64, len(to))
	for i, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return err
		}
		values[i] = x
	}
	for i, x := range values {
		*to[i] = x
	}
	return nil
}

// whole parses a whole number.
func whole(text string, to *int) error {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	*to = n
	return nil
}

// keyword finds a word in MuJoCo's order of them.
func keyword(text string, words []string, to *int) error {
	i := slices.Index(words, text)
	if i < 0 {
		return fmt.Errorf("%q is none of %s", text, strings.Join(words, ", "))
	}
	*to = i
	return nil
}
