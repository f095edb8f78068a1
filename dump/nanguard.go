package dump

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	formatNanguard = "nanguard-1"
	manifestEntry  = "_nanguard"
)

// openNanguard opens a dump with a manifest: our own.
func (f *File) openNanguard() error {
	if !f.arc.has(manifestEntry) {
		return errNotMine
	}
	f.format = formatNanguard
	f.readManifest()
	f.fillEnvs()
	for _, spec := range f.manifest.Fields {
		entry := "field." + spec.Name
		if !f.arc.has(entry) {
			continue
		}
		if err := f.arc.timed(entry); err != nil {
			f.warnOf(&FormatError{f.name, entry, err})
		}
		f.fields[spec.Name] = &source{spec: spec, load: func() (*Series, error) { return f.loadField(spec) }}
	}
	if f.hasSteps(statesPrefix) {
		f.openStates(FieldSpec{Name: StateField, Stage: StagePhysics, Clock: ClockSubstep, PerEnv: true})
		f.fitStateRows()
	}
	f.checkCulprits()
	f.checkUnlisted()
	return nil
}

// readManifest decodes the manifest. Where that is impossible, one is made from
// the metadata and the entries.
func (f *File) readManifest() {
	text, err := f.arc.text(manifestEntry)
	if err == nil {
		err = f.arc.budget.take(jsonCost * int64(len(text)))
	}
	if err == nil {
		var warnings []error
		if f.manifest, warnings, err = decodeManifest(text); err == nil {
			f.warn(warnings...)
			f.warn(f.manifest.check(f.columnsOf)...)
			return
		}
	}
	f.warn(fmt.Errorf("entry %q: %w; the dump is read without its manifest", manifestEntry, err))
	f.manifest = f.foreignManifest(Producer{Name: "nanguard"})
	f.findFields()
	f.nameRows()
}

// columnsOf returns the columns of a field as its entry has them, else as its
// labels say, else 0.
func (f *File) columnsOf(spec FieldSpec) int {
	h, err := f.arc.header("field." + spec.Name)
	if err != nil {
		return len(spec.Cols)
	}
	shape, err := cubeShape(h.shape, spec.PerEnv)
	if err != nil {
		return len(spec.Cols)
	}
	return shape[2]
}

// findFields describes the fields whose entries are complete, for want of a
// manifest: what can be told from a name and a shape.
func (f *File) findFields() {
	for _, entry := range f.arc.names {
		name, ok := strings.CutPrefix(entry, "field.")
		if !ok || !f.arc.has(entry+".tick") || !f.arc.has(entry+".count") {
			continue
		}
		h, err := f.arc.header(entry)
		if err != nil {
			f.warn(fmt.Errorf("entry %s: %w", quote(entry), err))
			continue
		}
		if len(f.manifest.Fields) == maxFields {
			break
		}
		place := placeOf(name)
		f.manifest.Fields = append(f.manifest.Fields, FieldSpec{
			Name: name, Stage: place.stage, Clock: place.clock, Order: place.order,
			DType: h.elem.dtype().String(), PerEnv: len(h.shape) == 3,
		})
	}
	slices.SortStableFunc(f.manifest.Fields, func(a, b FieldSpec) int { return cmp.Compare(a.Order, b.Order) })
}

// fillEnvs takes from the metadata what the manifest does not say of the envs.
func (f *File) fillEnvs() {
	m := f.manifest
	f.bad = f.envIDs("nan_env_ids")
	listed := f.envIDs("dumped_env_ids")
	if n, ok := f.meta.count("num_envs_total"); ok && m.NumEnvs == 0 {
		m.NumEnvs = int(min(n, math.MaxInt32))
	}
	switch {
	case len(m.EnvIDs) == 0 && len(listed) > 0:
		m.EnvIDs = listed
		f.nameRows()
	case f.meta.has("dumped_env_ids") && !slices.Equal(m.EnvIDs, listed):
		f.warn(errors.New("the manifest's env_ids and the metadata's dumped_env_ids disagree; the manifest counts"))
	}
}

// checkUnlisted says which fields the manifest does not know.
func (f *File) checkUnlisted() {
	var odd problems
	for _, entry := range f.arc.names {
		name, ok := strings.CutPrefix(entry, "field.")
		if ok && f.fields[name] == nil && f.arc.has(entry+".tick") {
			odd.add(entry, errors.New("not in the manifest and not shown"))
		}
	}
	f.warn(odd.warnings()...)
}

// fitStateRows gives up on states whose rows are not the manifest's envs.
func (f *File) fitStateRows() {
	if f.state == nil || f.state.rows == 0 || f.state.rows == len(f.manifest.EnvIDs) {
		return
	}
	if len(f.manifest.EnvIDs) == 0 {
		f.nameRows()
		return
	}
	f.warn(fmt.Errorf("the entries %s* have %d rows for %d envs: it is not certain which envs the rows are",
		statesPrefix, f.state.rows, len(f.manifest.EnvIDs)))
}

// loopPlace is where in the loop a field belongs.
type loopPlace struct {
	prefix string
	stage  Stage
	clock  Clock
	order  float64
}

// places tells the place of names by how they begin.
var places = []loopPlace{
	{"model", StageModel, ClockUpdate, 1},
	{"ctrl", StagePhysics, ClockSubstep, 10},
	{"ncon", StageSolver, ClockSubstep, 11},
	{"nefc", StageSolver, ClockSubstep, 12},
	{"solver", StageSolver, ClockSubstep, 13},
	{"contact", StageSolver, ClockSubstep, 14},
	{"qacc", StagePhysics, ClockSubstep, 15},
	{"qvel", StagePhysics, ClockSubstep, 16},
	{"qpos", StagePhysics, ClockSubstep, 17},
	{"sensordata", StageSensor, ClockSubstep, 18},
	{"termination", StageDone, ClockStep, 28},
	{"done", StageDone, ClockStep, 29},
	{"reward", StageReward, ClockStep, 30},
	{"obs", StageObs, ClockStep, 40},
	{"normalizer", StageNormalizer, ClockStep, 48},
	{"policy", StagePolicy, ClockStep, 60},
	{"action", StagePolicy, ClockStep, 62},
	{"log_prob", StagePolicy, ClockStep, 63},
	{"value", StageValue, ClockStep, 64},
	{"loss", StageLoss, ClockMinibatch, 80},
	{"grad", StageGrad, ClockMinibatch, 81},
	{"param", StageParam, ClockMinibatch, 83},
}

// placeOf guesses the place of a field from its name. One that is not known
// only watches.
func placeOf(name string) loopPlace {
	for _, p := range places {
		if strings.HasPrefix(name, p.prefix) {
			return p
		}
	}
	return loopPlace{stage: StageMonitor, clock: ClockStep, order: 100}
}
