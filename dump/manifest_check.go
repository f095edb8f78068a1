package dump

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/tensor"
)

// manifestFormat and manifestVersion are what this package reads and writes.
const (
	manifestFormat  = "nanguard-dump"
	manifestVersion = 1
)

// check makes a manifest that was read safe to use: what contradicts itself is
// mended or left out, and said.
// A field's number of columns comes from width, 0 where that is not known.
func (m *Manifest) check(width func(FieldSpec) int) (warnings []error) {
	warn := func(format string, args ...any) {
		warnings = append(warnings, fmt.Errorf("manifest: "+format, args...))
	}
	if m.Format != manifestFormat {
		warn("format is %s; %q was expected", quote(m.Format), manifestFormat)
	}
	switch {
	case m.Version > manifestVersion:
		warn("version %d is newer than this program, which knows %d: what is new in it is not shown", m.Version, manifestVersion)
	case m.Version < manifestVersion:
		warn("version %d; %d was expected", m.Version, manifestVersion)
	}
	m.checkEnvs(warn)
	m.checkFields(warn)
	m.checkTrip(warn, width)
	m.checkEvents(warn)
	return warnings
}

// checkEnvs holds env_ids, env_roles and num_envs against each other.
func (m *Manifest) checkEnvs(warn func(string, ...any)) {
	if m.NumEnvs < 0 || m.NumEnvs > math.MaxInt32 {
		warn("num_envs is %d", m.NumEnvs)
		m.NumEnvs = 0
	}
	if len(m.EnvIDs) > maxRows {
		warn("env_ids has %d rows over limit %d; the list is not used", len(m.EnvIDs), maxRows)
		m.EnvIDs = []int{}
	}
	if i := slices.IndexFunc(m.EnvIDs, func(id int) bool { return id < 0 || id > math.MaxInt32 }); i >= 0 {
		warn("env_ids holds %d, which is no env; the list is not used", m.EnvIDs[i])
		m.EnvIDs = []int{}
	}
	if len(m.EnvIDs) > 0 && m.NumEnvs > 0 && slices.Max(m.EnvIDs) >= m.NumEnvs {
		warn("env_ids holds %d of %d envs", slices.Max(m.EnvIDs), m.NumEnvs)
	}
	if repeated(m.EnvIDs) {
		warn("env_ids names an env twice")
	}
	if len(m.EnvRoles) != len(m.EnvIDs) {
		if len(m.EnvIDs) > 0 {
			warn("%d env_roles for %d env_ids", len(m.EnvRoles), len(m.EnvIDs))
		}
		m.EnvRoles = m.EnvRoles[:min(len(m.EnvRoles), len(m.EnvIDs))]
		for len(m.EnvRoles) < len(m.EnvIDs) {
			m.EnvRoles = append(m.EnvRoles, RoleSuspect)
		}
	}
	for i, r := range m.EnvRoles {
		if r != RoleCulprit && r != RoleSuspect && r != RoleControl {
			warn("role %s of a row is not known", quote(string(r)))
			m.EnvRoles[i] = RoleSuspect
		}
	}
}

// repeated reports whether an id stands in the list twice.
func repeated(ids []int) bool {
	seen := make(map[int]bool, len(ids))
	for _, id := range ids {
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}

// The stages and clocks that this package knows.
var (
	stages = map[Stage]bool{
		StageModel: true, StageSolver: true, StagePhysics: true, StageSensor: true, StageObs: true,
		StageNormalizer: true, StagePolicy: true, StageReward: true, StageDone: true, StageValue: true,
		StageLoss: true, StageGrad: true, StageParam: true, StageMonitor: true,
	}
	clocks = map[Clock]bool{ClockSubstep: true, ClockStep: true, ClockMinibatch: true, ClockUpdate: true}
)

// checkFields leaves out fields without a name of their own and mends orders.
func (m *Manifest) checkFields(warn func(string, ...any)) {
	seen := make(map[string]bool, len(m.Fields))
	m.Fields = slices.DeleteFunc(m.Fields, func(f FieldSpec) bool {
		switch {
		case f.Name == "":
			warn("a field has no name; it is left out")
		case len(f.Name) > maxName:
			warn("field %s: its name has %d bytes, over the limit of %d; it is left out", quote(f.Name), len(f.Name), maxName)
		case seen[f.Name]:
			warn("field %s is listed twice; the first counts", quote(f.Name))
		default:
			seen[f.Name] = true
			return false
		}
		return true
	})
	for i := range m.Fields {
		f := &m.Fields[i]
		if err := CheckName(f.Name); err != nil {
			warn("%w", err)
		}
		if _, err := tensor.ParseDType(f.DType); err != nil {
			warn("field %s: unknown dtype %s", quote(f.Name), quote(f.DType))
		}
		if !stages[f.Stage] || !clocks[f.Clock] {
			warn("field %s: stage %s or clock %s is not known", quote(f.Name), quote(string(f.Stage)), quote(string(f.Clock)))
		}
		if math.IsNaN(f.Order) || math.IsInf(f.Order, 0) {
			warn("field %s: order is %v", quote(f.Name), f.Order)
			f.Order = 0
		}
	}
}

// checkTrip leaves out a trip or a first bad value that cannot be.
func (m *Manifest) checkTrip(warn func(string, ...any), width func(FieldSpec) int) {
	c := &badPlaces{numEnvs: m.NumEnvs, fields: make(map[string]FieldSpec), width: width, widths: make(map[string]int)}
	for _, f := range m.Fields {
		c.fields[f.Name] = f
	}
	if t := m.Trip; t != nil {
		if why := c.problem(t.Field, t.Env, t.Col, t.Class); why != "" {
			warn("the trip is not used: %s", why)
			m.Trip = nil
		}
	}
	m.FirstBad = slices.DeleteFunc(m.FirstBad, func(b FirstBad) bool {
		why := c.problem(b.Field, b.Env, b.Col, b.Class)
		if why != "" {
			warn("first_bad of field %s is left out: %s", quote(b.Field), why)
		}
		return why != ""
	})
	slices.SortStableFunc(m.FirstBad, func(a, b FirstBad) int { return cmp.Compare(a.Tick, b.Tick) })
}

// badPlaces tells whether a value can have been bad where a manifest says so.
type badPlaces struct {
	numEnvs int
	fields  map[string]FieldSpec
	width   func(FieldSpec) int // columns of a field, 0 when they are not known
	widths  map[string]int      // what width has said
}

// problem says what is wrong with the place of a bad value, or "".
func (c *badPlaces) problem(field string, env *int, col int, class string) string {
	f, ok := c.fields[field]
	if !ok {
		return "field " + quote(field) + " is not among the fields"
	}
	if k, err := tensor.ParseClass(class); err != nil || k == tensor.Finite {
		return "class " + quote(class) + " is not one of nan, posinf, neginf"
	}
	if env != nil && (*env < 0 || c.numEnvs > 0 && *env >= c.numEnvs) {
		return fmt.Sprintf("env %d of %d", *env, c.numEnvs)
	}
	cols, known := c.widths[field]
	if !known {
		cols = c.width(f)
		c.widths[field] = cols
	}
	if col < 0 || cols > 0 && col >= cols || col >= maxCols {
		return fmt.Sprintf("column %d of %d", col, cols)
	}
	return ""
}

// checkEvents puts the events into the order of their ticks.
func (m *Manifest) checkEvents(warn func(string, ...any)) {
	byTick := func(a, b Event) int { return cmp.Compare(a.Tick, b.Tick) }
	if !slices.IsSortedFunc(m.Events, byTick) {
		warn("the ticks of events descend; the events are put in order")
		slices.SortStableFunc(m.Events, byTick)
	}
	for i := range m.Events {
		if e := &m.Events[i]; e.Count < 0 {
			warn("event %s at tick %d touches %d envs", quote(e.Kind), e.Tick, e.Count)
			e.Count = 0
		}
	}
}
