package recording_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording/recordtest"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

// listed is an env as the list shows it.
type listed struct {
	id      int
	role    dump.Role
	missing bool
}

func envList(r *recording.Recording) (list []listed) {
	for _, e := range r.Envs {
		list = append(list, listed{e.ID, e.Role, e.Missing})
	}
	return list
}

// TestOrderOfEnvs: the env to look at stands first, whatever the file says
// about envs that it does not hold.
func TestOrderOfEnvs(t *testing.T) {
	const culprit, suspect, control = dump.RoleCulprit, dump.RoleSuspect, dump.RoleControl
	fourteen, gone := 14, 23
	for _, c := range []struct {
		name    string
		roles   []dump.Role // of envs 30, 14 and 40
		missing []int
		trip    *int
		want    []listed
		more    recording.Unlisted
	}{
		{
			"nothing is missing",
			[]dump.Role{control, culprit, suspect},
			nil, &fourteen,
			[]listed{{14, culprit, false}, {40, suspect, false}, {30, control, false}},
			recording.Unlisted{},
		},
		{
			"others went bad after a culprit",
			[]dump.Role{control, culprit, control},
			[]int{2, 5},
			&fourteen,
			[]listed{{14, culprit, false}, {30, control, false}, {40, control, false}, {2, recording.RoleBad, true}, {5, recording.RoleBad, true}},
			recording.Unlisted{},
		},
		{
			"others went bad, the file holds a suspect",
			[]dump.Role{control, suspect, control},
			[]int{2, 5, 7, 9},
			nil,
			[]listed{{14, suspect, false}, {30, control, false}, {40, control, false}},
			recording.Unlisted{IDs: []int{2, 5, 7, 9}, Place: 3},
		},
		{
			"mjlab V1: the only bad env is missing",
			[]dump.Role{control, control, control},
			[]int{23},
			nil,
			[]listed{{23, culprit, true}, {30, control, false}, {14, control, false}, {40, control, false}},
			recording.Unlisted{},
		},
		{
			"two are missing, either may be the first",
			[]dump.Role{control, control, control},
			[]int{23, 24},
			nil,
			[]listed{{23, recording.RoleBad, true}, {24, recording.RoleBad, true}, {30, control, false}, {14, control, false}, {40, control, false}},
			recording.Unlisted{},
		},
		{
			"many are missing and none is there",
			[]dump.Role{control, control, control},
			[]int{1, 2, 3, 4},
			nil,
			[]listed{{30, control, false}, {14, control, false}, {40, control, false}},
			recording.Unlisted{IDs: []int{1, 2, 3, 4}},
		},
		{
			"the one that tripped is missing",
			[]dump.Role{control, suspect, control},
			[]int{23},
			&gone,
			[]listed{{14, suspect, false}, {30, control, false}, {40, control, false}, {23, culprit, true}},
			recording.Unlisted{},
		},
	} {
		s := recordtest.Sample()
		s.M.EnvRoles, s.State = c.roles, &dump.StateInfo{CulpritsMissing: c.missing}
		if s.M.Trip.Env = c.trip; c.trip == nil {
			s.M.Trip = nil
		}
		r := recording.Open(s)
		assert.Equal(t, c.want, envList(r), c.name)
		assert.Equal(t, c.more, r.Unlisted, c.name)
		assert.False(t, r.Envs[r.Start().Env].Missing, c.name)
	}
}

// TestNoCulpritInACleanDump: whatever role the file gives, nothing is wrong.
func TestNoCulpritInACleanDump(t *testing.T) {
	for verdict, want := range map[string]dump.Role{rootcause.Clean: dump.RoleControl, rootcause.ContactDivergence: dump.RoleCulprit} {
		r := recording.Open(recordtest.Sample())
		require.Equal(t, dump.RoleCulprit, r.Envs[0].Role)
		r.Diagnose(&rootcause.Diagnosis{Verdict: verdict})
		assert.Equal(t, want, r.Envs[0].Role, verdict)
	}
}

func TestReferenceIsInTheFile(t *testing.T) {
	s := recordtest.Sample()
	s.State = &dump.StateInfo{CulpritsMissing: []int{23}}
	s.M.EnvRoles = nil
	r := recording.Open(s)
	i, ok := r.Reference(1)
	require.True(t, ok)
	assert.False(t, r.Envs[i].Missing)
	s.State, s.M.EnvIDs = nil, []int{1}
	_, ok = recording.Open(s).Reference(0)
	assert.False(t, ok)
}

// wholeRun is a run whose first bad value is in a field without envs: env 7 is
// a suspect, 8 a culprit that the file names, 9 a control.
func wholeRun(roles ...dump.Role) *recordtest.Source {
	s := &recordtest.Source{M: dump.Manifest{
		EnvIDs: []int{9, 7, 8}, EnvRoles: roles,
		Trip: &dump.Trip{Field: "normalizer.var", Tick: 3, Col: 1, Class: "posinf"},
	}}
	s.Add(dump.FieldSpec{Name: "qvel", PerEnv: true}, []string{"a"}, []int64{1, 2, 3}, func(_, _, _ int) float64 { return 1 })
	s.Add(dump.FieldSpec{Name: "normalizer.var", Order: 1}, []string{"a", "b"}, []int64{1, 2, 3}, func(f, _, c int) float64 {
		return []float64{1, math.Inf(f - 1)}[c*f/2]
	})
	return s
}

// TestStartInAFieldOfTheWholeRun: the first bad value names no env; the one
// where it began is looked at, else a culprit, else a suspect.
func TestStartInAFieldOfTheWholeRun(t *testing.T) {
	const culprit, suspect, control = dump.RoleCulprit, dump.RoleSuspect, dump.RoleControl
	began := func(env *int) *rootcause.Diagnosis {
		return &rootcause.Diagnosis{Root: &rootcause.Onset{Field: "qvel", Env: env, Tick: 2, Class: "growing"}}
	}
	nine, absent := 9, 1000
	for _, c := range []struct {
		name  string
		roles []dump.Role
		d     *rootcause.Diagnosis
		want  int
	}{
		{"where it began", []dump.Role{control, suspect, culprit}, began(&nine), 9},
		{"no diagnosis", []dump.Role{control, suspect, culprit}, nil, 8},
		{"the root is of the run", []dump.Role{control, suspect, culprit}, began(nil), 8},
		{"the root is not in the file", []dump.Role{control, suspect, culprit}, began(&absent), 8},
		{"no culprit", []dump.Role{control, suspect, control}, nil, 7},
	} {
		r := load(wholeRun(c.roles...))
		if c.d != nil {
			r.Diagnose(c.d)
		}
		at := r.Start()
		assert.Equal(t, c.want, r.Envs[at.Env].ID, c.name)
		at.Env = 0
		assert.Equal(t, recording.Spot{Field: 1, Col: 1, Tick: 3}, at, c.name)
	}
}
