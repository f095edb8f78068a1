package dump

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/tensor"
)

// emptyManifest returns a manifest whose lists are there and empty, as JSON
// shows them.
func emptyManifest() *Manifest {
	return &Manifest{
		EnvIDs: []int{}, EnvRoles: []Role{}, Clocks: map[Clock]int64{}, Fields: []FieldSpec{},
		FirstBad: []FirstBad{}, Events: []Event{}, Facts: map[string]any{},
	}
}

// foreignManifest makes the manifest of a file that has none from its metadata.
func (f *File) foreignManifest(p Producer) *Manifest {
	m := emptyManifest()
	m.Producer = p
	if n, ok := f.meta.count("num_envs_total"); ok {
		m.NumEnvs = int(min(n, math.MaxInt32))
	}
	if n := f.detectionStep(); n > 0 {
		m.Clocks[ClockSubstep] = n
	}
	m.EnvIDs = f.dumpedIDs()
	f.bad = f.envIDs("nan_env_ids")
	return m
}

// envIDs returns a list of envs of the metadata.
func (f *File) envIDs(key string) []int {
	ids, _, err := f.meta.envIDs(key)
	f.warn(err)
	if n, ok := f.meta.count("num_envs_total"); ok && len(ids) > 0 && int64(slices.Max(ids)) >= n {
		f.warn(fmt.Errorf("metadata: %s holds env %d of %d", key, slices.Max(ids), n))
	}
	return ids
}

// detectionStep returns the step at which the guard of the file saw it.
func (f *File) detectionStep() int64 {
	n, _ := f.meta.count("detection_step")
	return n
}

// dumpedIDs returns the envs that the metadata lists as rows. mjlab V1 has no
// list: its rows are the first envs, whoever went bad.
func (f *File) dumpedIDs() []int {
	ids := append([]int{}, f.envIDs("dumped_env_ids")...)
	n, counted := f.meta.count("num_envs_dumped")
	if !f.meta.has("dumped_env_ids") {
		if n, counted = f.meta.count("num_envs_captured"); counted && n <= maxRows {
			for i := range int(n) {
				ids = append(ids, i)
			}
		}
		return ids
	}
	if counted && int(n) != len(ids) {
		f.warn(fmt.Errorf("metadata: num_envs_dumped is %d, dumped_env_ids lists %d", n, len(ids)))
	}
	if repeated(ids) {
		f.warn(errors.New("metadata: dumped_env_ids names an env twice"))
	}
	return ids
}

// nameRows settles which envs the rows are, once it is known how many there
// are, and what their roles are.
func (f *File) nameRows() {
	m := f.manifest
	rows := f.rows()
	listed := len(m.EnvIDs)
	switch {
	case rows == 0 || rows == listed:
	case listed == 0:
		if f.meta != nil && f.format != "luckylab" {
			f.warn(errors.New("the metadata does not list the envs: the rows are numbered from 0"))
		}
		m.EnvIDs = make([]int, rows)
		for i := range m.EnvIDs {
			m.EnvIDs[i] = i
		}
	default:
		f.warn(fmt.Errorf("the frames have %d rows, the metadata lists %d envs: it is not certain which envs the rows are", rows, listed))
		m.EnvIDs = rowIDs(m.EnvIDs[:min(rows, listed)], rows)
	}
	m.NumEnvs = max(m.NumEnvs, len(m.EnvIDs))
	bad := idSet(f.bad)
	m.EnvRoles = make([]Role, len(m.EnvIDs))
	for i, id := range m.EnvIDs {
		switch {
		case bad[id], f.format == "luckylab" && rows == 1:
			m.EnvRoles[i] = RoleCulprit
		case id < 0 || len(bad) == 0:
			m.EnvRoles[i] = RoleSuspect
		default:
			m.EnvRoles[i] = RoleControl
		}
	}
}

// idSet returns the ids as a set.
func idSet(ids []int) map[int]bool {
	set := make(map[int]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// rows returns the rows of the frames, 0 when there are none.
func (f *File) rows() int {
	if f.state != nil {
		return f.state.rows
	}
	rows := 0
	for _, s := range f.fields {
		rows = max(rows, s.rows)
	}
	return rows
}

// checkCulprits notes the bad envs whose rows are not in the file. mjlab dumps
// the first few of many, which is as it should be; none of them is not.
func (f *File) checkCulprits() {
	if f.state == nil {
		return
	}
	rows := idSet(f.manifest.EnvIDs)
	missing := slices.DeleteFunc(slices.Clone(f.bad), func(id int) bool { return rows[id] })
	f.state.info.CulpritsMissing = missing
	if len(missing) == 0 || slices.ContainsFunc(f.manifest.EnvIDs, func(id int) bool { return id < 0 }) {
		return
	}
	if len(missing) == len(f.bad) {
		f.warn(fmt.Errorf("%s went bad, but the rows are %s: the culprit is not in this file",
			envText(missing), envText(f.manifest.EnvIDs)))
	} else if f.format == "mjlab-v1" {
		f.warn(fmt.Errorf("%s went bad too, but the rows are %s", envText(missing), envText(f.manifest.EnvIDs)))
	}
}

// envText names envs in a message: "env 10", "envs 0-4", "envs 3, 7, 9 (and 5
// more)".
func envText(ids []int) string {
	switch n := len(ids); {
	case n == 0:
		return "no env"
	case n == 1:
		return fmt.Sprintf("env %d", ids[0])
	case n > 2 && ids[n-1]-ids[0] == n-1 && slices.IsSorted(ids):
		return fmt.Sprintf("envs %d-%d", ids[0], ids[n-1])
	default:
		shown := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids[:min(n, 5)]), " ", ", "), "[]")
		return "envs " + shown + moreText(n-5)
	}
}

// addSteps adds a field that has an entry per step.
func (f *File) addSteps(prefix string, spec FieldSpec) {
	steps, warnings := f.arc.findSteps(prefix)
	f.warn(warnings...)
	if len(steps.list) == 0 {
		return
	}
	f.arc.chooseShape(&steps, len(f.manifest.EnvIDs), 0)
	spec.DType = steps.shape.dtype.String()
	f.manifest.Fields = append(f.manifest.Fields, spec)
	f.fields[spec.Name] = &source{spec: spec, rows: steps.shape.rows, load: func() (*Series, error) {
		values, numbers, err := f.loadSteps(&steps)
		if err != nil {
			return nil, err
		}
		return f.stepSeries(values, numbers), nil
	}}
}

// stepSeries returns frames whose only clock is the step number.
func (f *File) stepSeries(values tensor.Array, steps []int64) *Series {
	rows := values.Shape[1]
	return &Series{Ticks: steps, Counts: slices.Clone(steps), EnvIDs: rowIDs(f.manifest.EnvIDs, rows), Values: values}
}
