package rootcause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// changes reports whether an event changes what the simulator computes.
func changes(e dump.Event) bool {
	switch e.Kind {
	case dump.EventDR, dump.EventCurriculum, dump.EventCheckpointLoaded, dump.EventAMP, dump.EventBufferMoved, "push", "terrain":
		return true
	}
	return false
}

// touches reports whether an event concerned an env: it names it, or it names
// none because it touched them all.
func touches(e dump.Event, env int) bool {
	return len(e.Envs) == 0 || slices.Contains(e.Envs, env)
}

// stepsBefore returns the tick of the n-th env step before a tick, by the length of the
// recorded ones where the record begins later, and -1 before any.
func (c *Case) stepsBefore(t int64, n int) int64 {
	i, _ := slices.BinarySearch(c.envSteps, t)
	last := len(c.envSteps) - 1
	switch {
	case i >= n && last >= 0:
		return c.envSteps[i-n]
	case last < 1:
		return -1
	}
	first, each := c.envSteps[0], max(1, (c.envSteps[last]-c.envSteps[0])/int64(last))
	back := int64(n - i)
	if i == 0 {
		back += (first - t) / each
	}
	return max(first-back*each, -1)
}

// eventNear is F15: something about the simulation was changed within two env
// steps before it began.
func (c *Case) eventNear() Feature {
	from, to := c.stepsBefore(c.beginning(), 2), c.beginning()
	env, ok := c.focus()
	any := false
	for _, e := range c.man.Events {
		if !changes(e) {
			continue
		}
		any = true
		if e.Tick >= from && e.Tick <= to && (!ok || touches(e, env)) {
			f := found(yes, fmt.Sprintf("%s %s at tick %d, within two env steps before it began", e.Kind, e.Name, e.Tick))
			f.Tick = &e.Tick
			return f
		}
	}
	if !any {
		return unmeasured("randomisations, pushes and curriculum steps, as events")
	}
	return found(no, "nothing was changed in the two env steps before it began")
}

// modelWords are in the names of model arrays whose bad values make a mechanism
// unstable; contactWords in those that soften or harden its contacts.
var (
	modelWords   = []string{"gain", "bias", "mass", "inertia", "armature", "damping", "stiffness", "kp", "kd", "gear", "com", "ipos", "limit", "range", "frictionloss", "body_", "dof_", "actuator", "jnt_"}
	contactWords = []string{"friction", "solref", "solimp", "condim", "margin", "contact"}
)

// modelEvent is X1: the env to blame is one of few whose model was changed. The
// base rate is the share of all envs that were.
func (c *Case) modelEvent() Feature {
	env, ok := c.focus()
	if !ok {
		return idle("no env to blame in the file")
	}
	if c.bodyFine() {
		return idle("it did not begin in the physics, which a change of the model is felt in")
	}
	spared := ""
	if f, ok := c.recentChange(env); ok {
		return c.felt(f)
	}
	for _, e := range c.man.Events {
		if e.Kind != dump.EventDR || e.Tick > c.beginning() || !about(e.Name, modelWords...) || about(e.Name, contactWords...) && !about(e.Name, "frictionloss") {
			continue
		}
		n := max(e.Count, len(e.Envs))
		if n == 0 || n >= c.man.NumEnvs {
			continue // all of them: says nothing about this one
		}
		if !slices.Contains(e.Envs, env) {
			spared = e.Name
			continue
		}
		f := found(yes, fmt.Sprintf("%s was changed at tick %d in %d of %d envs, env %d among them", e.Name, e.Tick, n, c.man.NumEnvs, env))
		f.Measured, f.Baseline, f.Base = float64(n), float64(c.man.NumEnvs), baseRate(n, c.man.NumEnvs)
		f.Tick, f.Env, f.Field = &e.Tick, env, e.Name
		return f
	}
	if spared != "" {
		return found(no, fmt.Sprintf("%s was changed in some envs, and env %d is not one of them", spared, env))
	}
	return unmeasured("changes of model arrays in single envs, as events")
}

// bodyFine reports whether it began outside the physics, with physics that is recorded
// or that a quiet reward and observation speak for.
func (c *Case) bodyFine() bool {
	r := c.root()
	if !r.placed() || r.f.kind.isBody() || r.is(obs, sensor, modelArray, ctrl) {
		return false
	}
	return c.hidden[onPhysics] == 0 || r.is(reward, term) && c.is(F6, yes)
}

// fewSteps is how many env steps a run must have for the share of those that
// follow a change to tell anything.
const fewSteps = 20

// recentChange finds a model array that was changed in all envs within two env
// steps before it began: the value that this env got may be one that it cannot
// bear. The base rate is the share of all env steps that lie so close behind one.
func (c *Case) recentChange(env int) (Feature, bool) {
	from, to := c.stepsBefore(c.beginning(), 2), c.beginning()
	n, last := 0, -1
	for i, e := range c.man.Events {
		if e.Kind != dump.EventDR || e.Tick > to || !about(e.Name, modelWords...) || about(e.Name, contactWords...) || max(e.Count, len(e.Envs)) < c.man.NumEnvs {
			continue
		}
		n++
		if e.Tick >= from {
			last = i
		}
	}
	if last < 0 {
		return Feature{}, false
	}
	e := c.man.Events[last]
	steps, _ := slices.BinarySearch(c.envSteps, to)
	f := found("recent", fmt.Sprintf("%s was changed in all envs at tick %d, within two env steps before env %d ran away", e.Name, e.Tick, env))
	f.Base = min(1, 2*float64(n)/float64(max(steps, fewSteps)))
	f.Tick, f.Env, f.Field = &e.Tick, env, e.Name
	return f, f.Base < 0.5
}

// about reports whether a name holds one of some words.
func about(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// backendWords are in the messages of a toolchain that cannot serve a device.
var backendWords = []string{"no kernel image", "ptxas", "nvrtc", "cudnn", "cublas", "triton", "inductor", "hip error", "rocm", "driver version", "unsupported gpu", "sm_"}

// message is X9: what the exception says. It is weak evidence: torch's "std >=
// 0" was std itself once in twenty-one reports.
func (c *Case) message() Feature {
	said := c.complaints()
	if len(said) == 0 {
		return idle("no exception noted")
	}
	for _, s := range said {
		low := strings.ToLower(s)
		switch {
		case fullBuffer.MatchString(s):
			return found("other", fmt.Sprintf("the run ended with %q, which is about room for contacts and constraints", s))
		case strings.Contains(low, "std >= 0") || strings.Contains(low, "scale") && strings.Contains(low, "positive"):
			return found("std", fmt.Sprintf("the run ended with %q, which torch says for NaN as well", s))
		case about(low, backendWords...):
			return found("backend", fmt.Sprintf("the run ended with %q, which is about one kind of GPU, driver or compiler", s))
		case strings.Contains(low, "illegal memory") || strings.Contains(low, "illegal address") || strings.Contains(low, "cuda error") || strings.Contains(low, "cudagraph"):
			return found("cuda", fmt.Sprintf("the run ended with %q", s))
		}
	}
	return found("other", fmt.Sprintf("the run ended with %q", said[0]))
}

// felt makes more of a change of the model in all envs when about all of them
// went non-finite together right after it, and nothing says that a graph is in
// use that could have read an array that moved: then they cannot bear the values.
func (c *Case) felt(f Feature) Feature {
	r := c.root()
	if !r.is(body...) || !nonFinite(r.class) || r.row < 0 || c.graphDeclared() || !c.everywhere(c.countBad(r)) {
		return f
	}
	f.Value = "felt"
	f.Text += fmt.Sprintf("; so did %d of %d envs at once, and no graph is declared that could read a stale array", c.countBad(r), c.man.NumEnvs)
	return f
}
