package rootcause

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
	"github.com/nanguard/nanguard/tensor"
)

// Case is a dump as the rules see it: its fields in loop order, what went bad
// and when, where it began, and the features measured on that. It is read once
// by NewCase and then never changes.
type Case struct {
	man    *dump.Manifest
	meta   map[string]any
	format string
	model  *mjb.Model
	states *dump.StateInfo

	fields []*field // loop order
	before []*field // the state before each step, by part
	byName map[string]*field

	resets   map[int][]int64 // per env, ascending ticks
	envSteps []int64         // ticks of env steps
	culprits []int           // envs to look at, the likeliest first
	stdFound string          // see stdParam
	missing  []int           // culprits whose rows are not in the file

	order    []onset            // first bad value of every field, in tick order
	tripped  *onset             // the trip, or the first of order; nil when nothing is non-finite
	chain    []step             // from the root to what was noticed first; nil when nothing is wrong
	hidden   map[string]float64 // classes of F1 that are not recorded upstream of the root, with weights
	wrong    []string
	said     int // how many of wrong are the run's own words
	features []Feature
	warnings []string
}

// NewCase reads a dump. The error says that there is nothing to diagnose at
// all; what is doubtful becomes a warning of the diagnosis.
func NewCase(src Source) (*Case, error) {
	man := src.Manifest()
	if man == nil {
		return nil, errors.New("diagnose dump: no manifest")
	}
	c := &Case{
		man: man, format: src.Format(), model: src.Model(), states: src.States(),
		byName: map[string]*field{}, resets: map[int][]int64{},
	}
	if m := src.Metadata(); m != nil {
		c.meta = m.Values
	}
	c.findStdParam(src)
	c.readFields(src)
	c.readResets()
	c.readSteps()
	c.findOrder()
	c.findCulprits()
	c.findRoot()
	if c.healthy() {
		c.culprits, c.missing = nil, nil // whatever the file says of its envs
	}
	c.hidden = c.hide()
	c.measureFeatures()
	for _, w := range src.Warnings() {
		c.warnings = append(c.warnings, w.Error())
	}
	c.warnings = append(c.warnings, c.doubts()...)
	return c, nil
}

// readFields reads every field of the manifest and the state vector, which the
// rules see where it is the only record of the physics.
func (c *Case) readFields(src Source) {
	specs := slices.Clone(c.man.Fields)
	place := c.placeOf(specs)
	slices.SortStableFunc(specs, func(a, b dump.FieldSpec) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(c.kindOf(a).rank(), c.kindOf(b).rank()))
	}) // of fields with one place, what is made of the other comes behind it
	for _, s := range specs {
		if s.Name != dump.StateField {
			if f := c.read(src, s, c.kindOf(s), 0, -1); f != nil {
				c.keep(f)
			}
		}
	}
	if c.states == nil {
		return
	}
	c.before = c.readStates(src)
	if c.first(qvel).len() == 0 {
		for _, f := range c.before {
			c.keep(f)
		}
	}
}

// placeOf returns where a field stands in the loop: at its order, but for a
// learning rate, which is recorded behind the parameters that it has just changed.
func (c *Case) placeOf(specs []dump.FieldSpec) func(dump.FieldSpec) float64 {
	first := math.Inf(1)
	for _, s := range specs {
		if isWeight(c.kindOf(s), s.Stage) {
			first = min(first, s.Order)
		}
	}
	return func(s dump.FieldSpec) float64 {
		if c.kindOf(s) == lr {
			return min(s.Order, math.Nextafter(first, 0))
		}
		return s.Order
	}
}

// kindOf is kindOf with what the run declared: a std parameter that is learned
// as a logarithm may well be negative.
func (c *Case) kindOf(s dump.FieldSpec) kind {
	k := kindOf(s)
	if how := c.stdParam(); k == paramStd && how == "log" {
		return logStd
	} else if k == paramStd && how == "softplus" {
		return param
	}
	return k
}

// readStates reads the parts of the state vector as fields of their own, so
// that a velocity is never judged like a position.
func (c *Case) readStates(src Source) []*field {
	spec, ok := src.Field(dump.StateField)
	if !ok {
		return nil
	}
	parts := c.states.Parts
	kinds := map[string]kind{"qpos": qpos, "qvel": qvel, "act": act, "": state}
	if len(parts) == 0 {
		parts = []mjb.Part{{To: -1}}
	}
	var out []*field
	for _, p := range parts {
		if p.To == p.From || p.Name == "time" {
			continue
		}
		if f := c.read(src, spec, kinds[p.Name], p.From, p.To); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// read reads a field; nil when the file holds nothing of it.
func (c *Case) read(src Source, s dump.FieldSpec, k kind, from, to int) *field {
	f, err := newField(src, s, k, from, to)
	if err != nil {
		c.warnings = append(c.warnings, err.Error())
	}
	if c.rounded(f) {
		f.unround()
	}
	if f.len() > 0 && (k == std || k == paramStd && c.stdUntold()) && f.below() {
		f.kind = logStd
		f.measure()
	}
	return f
}

// rounded reports whether the infinities of a field in half precision came from
// storing it: the guard that wrote the dump lists what it saw go bad, and lists
// no such field. A state is never computed in half precision.
func (c *Case) rounded(f *field) bool {
	if f == nil || f.frames == nil || f.frames.Values.DType != tensor.Float16 {
		return false
	}
	listed := slices.ContainsFunc(c.man.FirstBad, func(b dump.FirstBad) bool { return b.Field == f.Name })
	return f.kind.isBody() || !listed && !c.guardFired()
}

// keep adds a field to those that the rules see.
func (c *Case) keep(f *field) {
	f.pos = len(c.fields)
	c.fields = append(c.fields, f)
	if c.byName[f.Name] == nil {
		c.byName[f.Name] = f
	}
}

// first returns the first field of a kind in loop order, nil when there is none.
func (c *Case) first(kinds ...kind) *field {
	for _, k := range kinds {
		for _, f := range c.fields {
			if f.kind == k {
				return f
			}
		}
	}
	return nil
}

// velocity returns the field that shows how fast things move: qvel, or the
// undivided state.
func (c *Case) velocity() *field { return c.first(qvel, state) }

// readResets collects when each env was reset, from events and done flags.
func (c *Case) readResets() {
	for _, e := range c.man.Events {
		if e.Kind != dump.EventReset && e.Kind != dump.EventEpisodeStart {
			continue
		}
		for _, env := range e.Envs {
			c.resets[env] = append(c.resets[env], e.Tick)
		}
	}
	if f := c.byName["done"]; f.len() > 0 && f.PerEnv {
		for i := range f.len() {
			for row := range f.rows {
				if f.cell(i, row).max > 0 {
					c.resets[f.env(row)] = append(c.resets[f.env(row)], f.frames.Ticks[i])
				}
			}
		}
	}
	for env, ticks := range c.resets {
		slices.Sort(ticks)
		c.resets[env] = slices.Compact(ticks)
	}
}

// readSteps collects the ticks of env steps, from the field that was captured
// at most of them.
func (c *Case) readSteps() {
	for _, f := range c.fields {
		if f.Clock != dump.ClockStep {
			continue
		}
		if f.frames != nil && len(f.frames.Ticks) > len(c.envSteps) {
			c.envSteps = f.frames.Ticks
		}
		if f.trace != nil && len(f.trace.Ticks) > len(c.envSteps) {
			c.envSteps = f.trace.Ticks
		}
	}
}

// cuts returns the resets that end a run of a field's row. The learner's fields
// do not care about resets.
func (c *Case) cuts(f *field, row int) []int64 {
	if f.kind.isBody() || f.kind == sensor || f.kind == ctrl {
		return c.resets[f.env(row)]
	}
	return nil
}

// findCulprits lists the envs to look at and those of them that the file lacks.
func (c *Case) findCulprits() {
	seen := map[int]bool{}
	add := func(env int) {
		if !seen[env] {
			seen[env] = true
			c.culprits = append(c.culprits, env)
		}
	}
	if c.tripped != nil && c.tripped.env >= 0 {
		add(c.tripped.env)
	}
	for _, o := range c.order {
		if o.env >= 0 && !c.everywhere(o.envs) {
			add(o.env)
		}
	}
	for _, env := range intList(c.meta["nan_env_ids"]) {
		add(env)
	}
	for i, r := range c.man.EnvRoles {
		if r == dump.RoleSuspect && i < len(c.man.EnvIDs) {
			add(c.man.EnvIDs[i])
		}
	}
	for _, env := range c.culprits {
		if !slices.Contains(c.man.EnvIDs, env) {
			c.missing = append(c.missing, env)
		}
	}
}

// everywhere reports whether a number of envs is about all of many: then which
// of them comes first in a table says nothing.
func (c *Case) everywhere(n int) bool {
	return c.man.NumEnvs >= manyEnvs && n*10 >= c.man.NumEnvs*9
}

// focus returns the env that the features are measured on: the root's, or the
// first culprit that the file holds. ok is false when there is none.
func (c *Case) focus() (env int, ok bool) {
	if len(c.chain) > 0 && c.chain[0].env >= 0 {
		return c.chain[0].env, true
	}
	for _, env := range c.culprits {
		if slices.Contains(c.man.EnvIDs, env) {
			return env, true
		}
	}
	return -1, false
}

// intList reads a list of a metadata dict.
func intList(v any) []int {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	out := make([]int, 0, len(list))
	for _, x := range list {
		if n, ok := number(x); ok {
			out = append(out, int(n))
		}
	}
	return out
}
