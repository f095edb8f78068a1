package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
)

// The values of X28.
const (
	beyondPhysics = "impossible" // no body or joint can have such a value
	apart         = "apart"      // far from that of every env that stayed well
	fragile       = "unstable"   // what X6 finds in the model with the env's own values
)

// positiveWords are in the names of model arrays in which a value below zero makes
// energy out of nothing or a mass matrix indefinite; massWords in those in which
// zero does, where others have more.
var (
	positiveWords = []string{"mass", "inertia", "armature", "damping", "stiffness", "frictionloss"}
	massWords     = []string{"body_mass", "body_inertia"}
)

// farParameter is how many times the median of the envs that stayed well, and how
// many times the furthest of them, a parameter must be to stand out. Sound
// randomisation varies a parameter by half, or at most threefold.
const (
	farParameter  = 10.0
	pastParameter = 2.0
)

// fewPeers is how many envs that stayed well a comparison needs, and manyPeers how many
// to count in full: a randomisation over decades leaves most of them far from its tail.
const (
	fewPeers  = 2
	manyPeers = 4
)

// randomised is X28: what the recorded model arrays hold in the env that ran away.
// That they are sound says nothing of what is not recorded.
func (c *Case) randomised() Feature {
	r := c.root()
	if !slices.ContainsFunc(c.fields, func(f *field) bool { return f.kind == modelArray && f.len() > 0 }) {
		if slices.ContainsFunc(c.man.Events, func(e dump.Event) bool { return e.Kind == dump.EventDR && about(e.Name, modelWords...) }) {
			return unmeasured("the model arrays that are randomised")
		}
		return idle("no randomisation of the model is noted")
	}
	if r.is(modelArray) && nonFinite(r.class) {
		return found(beyondPhysics, fmt.Sprintf("%s%s is %s before anything else is: randomisation wrote it, and no model can have it", r.f.label(max(r.col, 0)), inEnv(r.env), words[r.class])).in(r.f, r.env, max(r.col, 0), r.tick)
	}
	if !r.is(body...) || r.env < 0 {
		return idle("no env whose physics ran away")
	}
	if f, ok := c.auditEnv(r); ok {
		return f
	}
	for _, judge := range []func(*field, *step) (Feature, bool){c.impossibleValue, c.parameterApart} {
		for _, f := range c.fields {
			if f.kind != modelArray || !f.PerEnv || f.len() == 0 || f.row(r.env) < 0 {
				continue
			}
			if out, ok := judge(f, r); ok {
				return out
			}
		}
	}
	return idle("the recorded model arrays hold nothing impossible, and nothing far from those of the other envs")
}

// lastModel returns the last frame of a model array that a step can have read; the
// first where the guard began to record it later.
func (f *field) lastModel(r *step) int { return max(0, f.upTo(r.tick)) }

// impossibleValue finds a value below zero where none can be, or a mass of zero in
// an env where others have one.
func (c *Case) impossibleValue(f *field, r *step) (Feature, bool) {
	if !about(f.Name, positiveWords...) {
		return Feature{}, false
	}
	i, row := f.lastModel(r), f.row(r.env)
	for col := range f.to - f.from {
		v := f.at(i, row, col)
		massless := v == 0 && about(f.Name, massWords...) && f.heaviest(i, col) > 0
		if !(v < 0) && !massless {
			continue
		}
		n := 0
		for k := range f.rows {
			if w := f.at(i, k, col); w == v || v < 0 && w < 0 {
				n++
			}
		}
		out := found(beyondPhysics, fmt.Sprintf("%s of env %d is %s, which no body or joint can have (so in %d of the %d envs in the file)", f.label(col), r.env, num(v), n, f.rows))
		out.Measured = v
		return out.in(f, r.env, col, f.frames.Ticks[i]), true
	}
	return Feature{}, false
}

// heaviest returns the largest value of a column over all rows of a frame.
func (f *field) heaviest(i, col int) float64 {
	most := 0.0
	for k := range f.rows {
		if v := f.at(i, k, col); v > most {
			most = v
		}
	}
	return most
}

// parameterApart finds a parameter of the env that ran away that lies far outside
// what those that stayed well have.
func (c *Case) parameterApart(f *field, r *step) (Feature, bool) {
	i, row := f.lastModel(r), f.row(r.env)
	well := c.stayedWell(f, r)
	if len(well) < fewPeers || !about(f.Name, append([]string{"tendon"}, modelWords...)...) || about(f.Name, contactWords...) {
		return Feature{}, false
	}
	for col := range f.to - f.from {
		v := math.Abs(f.at(i, row, col))
		sizes := make([]float64, len(well))
		for k, w := range well {
			sizes[k] = math.Abs(f.at(i, w, col))
		}
		slices.Sort(sizes)
		middle, least, most := sizes[len(sizes)/2], sizes[0], sizes[len(sizes)-1]
		high := v > farParameter*middle && v > pastParameter*most && middle > 0
		low := v > 0 && v < middle/farParameter && v < least/pastParameter && about(f.Name, positiveWords...)
		if !high && !low {
			continue
		}
		out := found(apart, fmt.Sprintf("%s of env %d is %s; in the %d envs in the file that stayed well it is between %s and %s", f.label(col), r.env, num(f.at(i, row, col)), len(well), num(least), num(most)))
		out.Measured, out.Baseline, out.Half = v, middle, len(well) < manyPeers
		return out.in(f, r.env, col, f.frames.Ticks[i]), true
	}
	return Feature{}, false
}

// stayedWell returns the rows of f whose env is fine in the field and the frame in
// which a step lies.
func (c *Case) stayedWell(f *field, r *step) []int {
	var rows []int
	for k := range f.rows {
		at := r.f.row(f.env(k))
		if i := r.f.upTo(r.tick); f.env(k) != r.env && at >= 0 && i >= 0 && r.f.state(i, at) == "" {
			rows = append(rows, k)
		}
	}
	return rows
}

// auditEnv is X6 on the model with the values that were recorded for the env that
// ran away, where the model itself has no such fault.
func (c *Case) auditEnv(r *step) (Feature, bool) {
	if c.model == nil || c.modelAudit().Value == "unstable" {
		return Feature{}, false
	}
	m := *c.model
	changed := ""
	for _, f := range c.fields {
		if f.kind == modelArray && f.PerEnv && f.len() > 0 && f.row(r.env) >= 0 && f.into(&m, f.lastModel(r), f.row(r.env)) {
			changed = f.Name
		}
	}
	if changed == "" {
		return Feature{}, false
	}
	own := *c
	own.model = &m
	out := own.modelAudit()
	if out.Value != "unstable" {
		return Feature{}, false
	}
	out.Value, out.Text = fragile, fmt.Sprintf("with what %s gave env %d, %s", changed, r.env, out.Text)
	out.Field, out.Env = changed, r.env
	return out, true
}

// into writes a row of a recorded model array into a model, and reports whether it
// is one of those that decide whether a step is stable.
func (f *field) into(m *mjb.Model, i, row int) bool {
	n := f.to - f.from
	values := func(old []float64) []float64 {
		v := make([]float64, n)
		for col := range v {
			v[col] = f.at(i, row, col)
		}
		if len(old) != n {
			return old
		}
		return v
	}
	switch name := strings.ToLower(f.Name); {
	case about(name, "dof_armature"):
		m.DofArmature = values(m.DofArmature)
	case about(name, "dof_damping"):
		m.DofDamping = values(m.DofDamping)
	case about(name, "body_mass") && n == len(m.Bodies):
		m.Bodies = slices.Clone(m.Bodies)
		for b := range m.Bodies {
			mass := f.at(i, row, b)
			if was := m.Bodies[b].Mass; was > 0 { // as a sound randomisation scales it
				for k := range m.Bodies[b].Inertia {
					m.Bodies[b].Inertia[k] *= mass / was
				}
			}
			m.Bodies[b].Mass = mass
		}
	case about(name, "gainprm", "biasprm", "gear") && len(m.Actuators) > 0 && n%len(m.Actuators) == 0:
		m.Actuators = slices.Clone(m.Actuators)
		for a := range m.Actuators {
			f.intoActuator(&m.Actuators[a], i, row, a*n/len(m.Actuators), n/len(m.Actuators))
		}
	default:
		return false
	}
	return true
}

// intoActuator writes the numbers from a column on into an actuator. A servo whose
// gain alone is recorded pulls back with the same gain.
func (f *field) intoActuator(a *mjb.Actuator, i, row, col, width int) {
	v := f.at(i, row, col)
	switch {
	case about(f.Name, "gear"):
		a.Gear = v
	case about(f.Name, "gainprm"):
		if a.GainPrm0 != 0 && a.BiasPrm[1] == -a.GainPrm0 {
			a.BiasPrm[1] = -v
		}
		a.GainPrm0 = v
	case width >= 3:
		a.BiasPrm = [3]float64{v, f.at(i, row, col+1), f.at(i, row, col+2)}
	case width == 1 && a.BiasPrm[1] != 0: // of a servo, the one that is randomised
		a.BiasPrm[1] = v
	}
}
