package mjb

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

const (
	// maxMJCF bounds the text of an MJCF file, maxDepth its nesting.
	maxMJCF  = 16 << 20
	maxDepth = 512
)

// JointsFromMJCF reads from an MJCF file what can be told without MuJoCo's
// compiler: names, types and order of bodies, joints and actuators, and the
// numbers of <option>. The model's Version is "" and it has no masses, limits,
// geoms or kinematics; history and plastic state are not counted. A file that
// makes joints in other ways than by <joint> and <freejoint> in <body>, or takes
// them from other files, is a *NotSimpleError; one that is no MJCF wraps
// ErrNotModel.
func JointsFromMJCF(r io.Reader) (*Model, error) {
	text := &io.LimitedReader{R: r, N: maxMJCF + 1}
	p := &mjcf{dec: xml.NewDecoder(text), classes: map[string]mjcfClass{mainClass: {}}, opt: defaultOptions()}
	err := p.read()
	if text.N <= 0 {
		return nil, fmt.Errorf("mjcf: more than %d bytes", maxMJCF)
	}
	if err != nil {
		return nil, fmt.Errorf("mjcf: %w", err)
	}
	m, err := p.model()
	if err != nil {
		return nil, fmt.Errorf("mjcf: %w", err)
	}
	return m, nil
}

// defaultOptions are MuJoCo's own.
func defaultOptions() Options {
	return Options{
		Timestep: 0.002, Iterations: 100, LSIterations: 50, Solver: 2,
		Gravity: [3]float64{0, 0, -9.81}, ImpRatio: 1,
	}
}

// mjcf is a file being read.
type mjcf struct {
	dec       *xml.Decoder
	depth     int
	opt       Options
	warnings  []error
	world     mjcfBody
	bodies    int
	joints    int
	actuators []xml.StartElement
	classes   map[string]mjcfClass // of defaults
	dynamic   bool                 // whether some default gives actuators a state
}

// mjcfClass is a class of defaults: the joint type that it sets and the class
// around it, "" for none.
type mjcfClass struct{ kind, outer string }

// mainClass is the class of what names none.
const mainClass = "main"

// mjcfBody is a body with its joints and children, each in order.
type mjcfBody struct {
	name     string
	mocap    bool
	joints   []mjcfJoint
	children []*mjcfBody
}

// mjcfJoint is a joint whose type may depend on a class defined further on.
type mjcfJoint struct{ name, kind, class string }

// handler reads one element to its end.
type handler func(xml.StartElement) error

// read reads the root element.
func (p *mjcf) read() error {
	found := false
	err := p.children(func(e xml.StartElement) error {
		if e.Name.Local != "mujoco" || found {
			return fmt.Errorf("%w: root element <%s>, want one <mujoco>", ErrNotModel, e.Name.Local)
		}
		found = true
		return p.children(p.section)
	})
	if err == nil && !found {
		return fmt.Errorf("%w: no <mujoco> element", ErrNotModel)
	}
	return err
}

// children calls h for each child until the end of the element, or of the file
// at the root.
func (p *mjcf) children(h handler) error {
	if p.depth++; p.depth > maxDepth {
		return fmt.Errorf("elements nest deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	for {
		t, err := p.dec.Token()
		if errors.Is(err, io.EOF) && p.depth == 1 {
			return nil
		}
		if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
			return fmt.Errorf("%w: %w", ErrNotModel, err)
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := h(t.Copy()); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// skip reads to the end of an element that says nothing about joints. It must
// not hide an include, which may stand anywhere.
func (p *mjcf) skip(e xml.StartElement) error {
	if e.Name.Local == "include" {
		return &NotSimpleError{"include", "takes part of the model from another file"}
	}
	return p.children(p.skip)
}

// section reads a child of the root.
func (p *mjcf) section(e xml.StartElement) error {
	switch e.Name.Local {
	case "compiler":
		if attr(e, "fusestatic") == "true" {
			return &NotSimpleError{"compiler", "fuses static bodies"}
		}
	case "option":
		p.options(e)
	case "default":
		// What older versions let the main class be called is the same class.
		if class := attr(e, "class"); class != "" && class != mainClass {
			p.classes[class] = mjcfClass{outer: mainClass}
		}
		return p.defaultClass(mainClass)
	case "worldbody":
		return p.children(p.bodyElement(&p.world, mainClass))
	case "actuator":
		return p.children(func(a xml.StartElement) error {
			if p.actuators = append(p.actuators, a); len(p.actuators) > maxObjects {
				return fmt.Errorf("more than %d actuators", maxObjects)
			}
			return p.skip(a)
		})
	}
	return p.skip(e)
}

// defaultClass reads a class of defaults and those within it, which inherit.
func (p *mjcf) defaultClass(class string) error {
	return p.children(func(c xml.StartElement) error {
		switch c.Name.Local {
		case "default":
			inner := attr(c, "class")
			if _, ok := p.classes[inner]; !ok {
				p.classes[inner] = mjcfClass{outer: class}
			}
			return p.defaultClass(inner)
		case "joint":
			if t := attr(c, "type"); t != "" {
				p.classes[class] = mjcfClass{t, p.classes[class].outer}
			}
		}
		p.dynamic = p.dynamic || givesState(c)
		return p.skip(c)
	})
}

// bodyElement returns the reader of a body's children.
func (p *mjcf) bodyElement(b *mjcfBody, class string) handler {
	return func(e xml.StartElement) error {
		switch e.Name.Local {
		case "body":
			if p.bodies++; p.bodies > maxObjects {
				return fmt.Errorf("more than %d bodies", maxObjects)
			}
			child := &mjcfBody{name: nameOf(e), mocap: attr(e, "mocap") == "true"}
			b.children = append(b.children, child)
			if c := attr(e, "childclass"); c != "" {
				return p.children(p.bodyElement(child, c))
			}
			return p.children(p.bodyElement(child, class))
		case "joint", "freejoint":
			if p.joints++; p.joints > maxObjects {
				return fmt.Errorf("more than %d joints", maxObjects)
			}
			b.joints = append(b.joints, newJoint(e, class))
		case "frame", "replicate", "attach", "composite", "flexcomp":
			return &NotSimpleError{e.Name.Local, "makes or moves bodies"}
		}
		return p.skip(e)
	}
}

// newJoint reads a joint.
func newJoint(e xml.StartElement, class string) mjcfJoint {
	j := mjcfJoint{name: nameOf(e), kind: attr(e, "type"), class: class}
	if c := attr(e, "class"); c != "" {
		j.class = c
	}
	if e.Name.Local == "freejoint" {
		j.kind = "free"
	}
	return j
}

// attr returns an attribute, "" when it is not there.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// nameOf returns an element's name, cut when it is longer than any sane one.
func nameOf(e xml.StartElement) string {
	name := attr(e, "name")
	return name[:min(len(name), maxName)]
}
