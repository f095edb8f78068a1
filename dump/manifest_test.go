package dump

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ptrTo(n int) *int { return &n }

func TestManifestOfARealRun(t *testing.T) {
	t.Parallel()
	f, err := Open(filepath.Join("testdata", "go1_stiff", "nan_dump.npz"))
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, "nanguard-1", f.Format())
	m := f.Manifest()
	assert.Equal(t, Producer{"reference-writer", "1"}, m.Producer)
	assert.Equal(t, 48, m.NumEnvs)
	assert.Equal(t, []int{19, 30, 40}, m.EnvIDs)
	assert.Equal(t, []Role{RoleCulprit, RoleControl, RoleControl}, m.EnvRoles)
	assert.Equal(t, map[Clock]int64{ClockSubstep: 4, ClockStep: 2}, m.Clocks)
	assert.Equal(t, &Trip{Tick: 6, Clock: ClockSubstep, Count: 4, Field: "qacc", Env: ptrTo(19), Class: "nan"}, m.Trip)
	require.Len(t, m.FirstBad, 10)
	assert.Equal(t, FirstBad{Field: "qacc", Tick: 6, Clock: ClockSubstep, Count: 4, Env: ptrTo(19), Class: "nan", EnvsBad: 1}, m.FirstBad[0])
	assert.Len(t, m.Events, 2)
	assert.Equal(t, 0.01, m.Facts["sim.timestep"])
	assert.Equal(t, "scalar", m.Facts["policy.std_param"])
	assert.Equal(t, true, m.Facts["normalizer.enabled"])
	require.Len(t, m.Fields, 32)

	s, err := f.Frames("qvel")
	require.NoError(t, err)
	assert.Equal(t, []int{4, 3, 18}, s.Values.Shape)
	assert.Equal(t, -5.092848777770996, s.Values.Float64(0))
	assert.Equal(t, []int64{1, 2, 5, 6}, s.Ticks)
	assert.Equal(t, []int64{1, 2, 3, 4}, s.Counts)
	assert.Equal(t, []int{19, 30, 40}, s.EnvIDs)
	assert.True(t, math.IsNaN(s.Values.Frame(3).Float64(0)))
	assert.Equal(t, "floating_base_joint.vx", f.Columns("qvel")[0])

	s, err = f.Frames("normalizer.var") // of the whole run
	require.NoError(t, err)
	assert.Equal(t, 1, s.Values.Shape[1])
	assert.Nil(t, s.EnvIDs)

	tr, err := f.Trace("qvel")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 5, 6}, tr.Ticks)
	assert.Equal(t, []float64{0, 0, 0, 18}, tr.NaN)
	assert.Equal(t, 27125666.0, tr.AbsMax[3])
	assert.Equal(t, []float64{19, 19}, tr.ArgMax[:2])
	assert.Equal(t, -5089.201171875, tr.Min[1])
	assert.Equal(t, 473.89453125, tr.Max[0])
	assert.Equal(t, -19202.193433995715, tr.Mean[3])

	// states_step_N is the state after N substeps: that of qpos with count N.
	s, err = f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 1, 2, 5}, s.Ticks)
	assert.Equal(t, []int64{0, 1, 2, 3}, s.Counts)
	assert.Equal(t, 90.89636993408203, s.Values.Frame(3).Float64(0))
	assert.Equal(t, "qpos floating_base_joint.x", f.Columns(StateField)[0])
	assert.Equal(t, "qvel RL_calf_joint", f.Columns(StateField)[36])
	assert.Len(t, f.Warnings(), 1, "%v", f.Warnings()) // the model lies elsewhere
}

func TestStateTicks(t *testing.T) {
	t.Parallel()
	at := map[int64]int64{10: 100, 11: 103, 15: 130}
	for _, c := range []struct{ steps, want []int64 }{
		{[]int64{10, 11}, []int64{100, 103}},
		{[]int64{8, 9, 10}, []int64{98, 99, 100}},
		{[]int64{9, 10, 11, 12, 13, 14, 15, 16, 17}, []int64{99, 100, 103, 104, 105, 129, 130, 131, 132}},
		{[]int64{1, 2}, []int64{1, 2}},
		{nil, []int64{}},
	} {
		assert.Equal(t, c.want, stateTicks(c.steps, at))
	}
	// A second look after a reset has the same count: the state before the next
	// substep is what it saw.
	f := mustOpen(
		t, manifestOf(`{"format":"nanguard-dump","version":1,"num_envs":8,"env_ids":[3,5],"env_roles":["culprit","control"],
		"fields":[{"name":"ncon","stage":"solver","clock":"substep","dtype":"float64","per_env":false}]}`),
		npyOf("field.ncon", "<f8", "(3, 1)", f64(1, 2, 3)),
		npyOf("field.ncon.tick", "<i8", "(3,)", i64(4, 5, 9)), npyOf("field.ncon.count", "<i8", "(3,)", i64(1, 1, 2)),
		stateEntry(0, 0), stateEntry(1, 0), stateEntry(2, 0), metaEntry(2, 3, nil),
	)
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, []int64{4, 5, 9}, s.Ticks)
}

// manifestWith is a sound manifest of one field "x" with members changed.
func manifestWith(members string) string {
	base := `"format":"nanguard-dump","version":1,"producer":{"name":"p","version":"v"},"num_envs":8,"env_ids":[3,5],"env_roles":["culprit","control"],
		"clocks":{"step":4},"fields":[{"name":"x","stage":"obs","clock":"step","order":1,"dtype":"float64","cols":["a","b"],"per_env":true}],
		"trip":null,"first_bad":[],"events":[],"facts":{}`
	return "{" + base + members + "}" // of two members with one name the last counts
}

// fieldX is the entries of field "x": two frames of two rows of two columns.
func fieldX() []zipEntry {
	return []zipEntry{
		npyOf("field.x", "<f8", "(2, 2, 2)", f64(1, 2, 3, 4, 5, 6, 7, 8)),
		npyOf("field.x.tick", "<i8", "(2,)", i64(10, 11)), npyOf("field.x.count", "<i8", "(2,)", i64(1, 2)),
	}
}

// What is wrong with one member is said and leaves the others usable.
func TestManifestMembers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, members, want string }{
		{"sound", ``, ""},
		{"unknown members", `,"colour":"blue","nested":{"a":[1]}`, ""},
		{"newer", `,"version":7`, "version 7 is newer than this program"},
		{"version of text", `,"version":"1"`, "manifest: version: string, which does not fit there"},
		{"other format", `,"format":"foo"`, `format is "foo"; "nanguard-dump" was expected`},
		{"producer", `,"producer":[1]`, "manifest: producer: array, which does not fit there"},
		{"run", `,"run":{"pid":"x","host":"h"}`, `manifest: run: "pid" is string, which does not fit there`},
		{"run's time", `,"run":{"started":"yesterday"}`, "manifest: run: "},
		{"env ids no list", `,"env_ids":7`, "manifest: env_ids: number, which does not fit there"},
		{"env id of text", `,"env_ids":[3,"5"]`, "manifest: env_ids: string, which does not fit there"},
		{"env id below zero", `,"env_ids":[3,-5]`, "env_ids holds -5, which is no env; the list is not used"},
		{"env id beyond the run", `,"num_envs":5`, "env_ids holds 5 of 5 envs"},
		{"env id twice", `,"env_ids":[3,3]`, "env_ids names an env twice"},
		{"roles", `,"env_roles":["culprit"]`, "1 env_roles for 2 env_ids"},
		{"role", `,"env_roles":["culprit","villain"]`, `role "villain" of a row is not known`},
		{"number of envs", `,"num_envs":-1`, "num_envs is -1"},
		{"absurd number of envs", `,"num_envs":1e30`, "manifest: num_envs: number 1e30"},
		{"clocks", `,"clocks":{"step":"x"}`, "manifest: clocks: "},
		{"trip's field", `,"trip":{"tick":1,"field":"y","env":3,"col":0,"class":"nan"}`, `the trip is not used: field "y" is not among the fields`},
		{"trip's env", `,"trip":{"tick":1,"field":"x","env":8,"col":0,"class":"nan"}`, "the trip is not used: env 8 of 8"},
		{"trip's column", `,"trip":{"tick":1,"field":"x","env":3,"col":-1,"class":"nan"}`, "the trip is not used: column -1 of 2"},
		{"trip without column", `,"trip":{"tick":1,"field":"x","env":3,"class":"nan"}`, "the trip is not used: column -1 of 2"},
		{"trip's column beyond", `,"trip":{"tick":1,"field":"x","env":3,"col":2,"class":"nan"}`, "the trip is not used: column 2 of 2"},
		{"trip's class", `,"trip":{"tick":1,"field":"x","env":3,"col":0,"class":"big"}`, `the trip is not used: class "big" is not one of`},
		{"trip's column without a label", `,"trip":{"tick":1,"field":"x","env":3,"col":1,"class":"nan"},"fields":[{"name":"x","stage":"obs","clock":"step","dtype":"float64","cols":["a"],"per_env":true}]`, "1 labels for 2 columns"},
		{"huge fact", `,"facts":{"a":1e999}`, "manifest: facts: number 1e999, which does not fit there"},
		{"trip of text", `,"trip":"yes"`, "manifest: trip: string"},
		{"first bad", `,"first_bad":[{"field":"x","tick":1,"env":3,"col":0,"class":"finite"}]`, `first_bad of field "x" is left out: class "finite"`},
		{"events", `,"events":{"tick":1}`, "manifest: events is no list"},
		{"event", `,"events":[{"tick":"one","kind":"reset"},{"tick":2,"kind":"reset"}]`, `manifest: events, item 0 is left out: "tick" is string`},
		{"order of events", `,"events":[{"tick":5,"kind":"reset"},{"tick":2,"kind":"reset"}]`, "the ticks of events descend"},
		{"count of an event", `,"events":[{"tick":5,"kind":"reset","count":-3}]`, `event "reset" at tick 5 touches -3 envs`},
		{"facts no dict", `,"facts":[1]`, "manifest: facts: array"},
		{"field without a name", `,"fields":[{"name":""},{"name":"x","stage":"obs","clock":"step","dtype":"float64","per_env":true}]`, "a field has no name; it is left out"},
		{"field twice", `,"fields":[{"name":"x","stage":"obs","clock":"step","dtype":"float64","per_env":true},{"name":"x"}]`, `field "x" is listed twice`},
		{"long name", `,"fields":[{"name":"` + strings.Repeat("y", 201) + `"},{"name":"x","stage":"obs","clock":"step","dtype":"float64","per_env":true}]`, "its name has 201 bytes, over the limit of 200; it is left out"},
		{"field of text", `,"fields":["y",{"name":"x","stage":"obs","clock":"step","dtype":"float64","per_env":true}]`, "manifest: fields, item 0 is left out: string"},
		{"name", `,"fields":[{"name":"a b","stage":"obs","clock":"step","dtype":"float64"},{"name":"x","stage":"obs","clock":"step","dtype":"float64","per_env":true}]`, `field "a b": a name is made of letters`},
		{"stage", `,"fields":[{"name":"x","stage":"moon","clock":"step","dtype":"float64","per_env":true}]`, `field "x": stage "moon" or clock "step" is not known`},
		{"dtype", `,"fields":[{"name":"x","stage":"obs","clock":"step","dtype":"float32","per_env":true}]`, `entry "field.x": holds float64, the manifest says "float32"`},
		{"unknown dtype", `,"fields":[{"name":"x","stage":"obs","clock":"step","dtype":"float128","per_env":true}]`, `field "x": unknown dtype "float128"`},
		{"labels", `,"fields":[{"name":"x","stage":"obs","clock":"step","dtype":"float64","cols":["a"],"per_env":true}]`, `entry "field.x": 1 labels for 2 columns; the columns are numbered`},
		{"order", `,"fields":[{"name":"x","stage":"obs","clock":"step","order":"Infinity","dtype":"float64","per_env":true}]`, `field "x": order is +Inf`},
		{"bare numbers", `,"facts":{"a":NaN,"b":-Infinity,"c":"say NaN","d":[Infinity]}`, "3 bare NaN or Infinity"},
	} {
		f := mustOpen(t, append(fieldX(), manifestOf(manifestWith(c.members)))...)
		s, err := f.Frames("x")
		require.NoError(t, err, c.name)
		assert.Equal(t, []float64{1, 2, 3, 4, 5, 6, 7, 8}, s.Values.AppendFloat64s(nil, 0, 8), c.name)
		assert.Len(t, f.Columns("x"), 2, c.name)
		for _, id := range f.Manifest().EnvIDs {
			assert.GreaterOrEqual(t, id, 0, c.name)
		}
		assert.Len(t, f.Manifest().EnvRoles, len(f.Manifest().EnvIDs), c.name)
		if c.want == "" {
			assert.Empty(t, f.Warnings(), c.name)
		} else {
			assert.Len(t, f.Warnings(), 1, "%s: %v", c.name, f.Warnings())
			assert.Contains(t, warnText(f), c.want, c.name)
		}
	}
}

func TestManifestFacts(t *testing.T) {
	t.Parallel()
	f := mustOpen(t, append(fieldX(), manifestOf(manifestWith(
		`,"facts":{"a":"NaN","b":-Infinity,"c":"text","d":0.5,"e":true,"n":3},"events":[{"tick":2,"kind":"dr","name":"friction","envs":[3],"count":4,"detail":{"x":[1,"NaN"]}}]`)))...)
	m := f.Manifest()
	assert.True(t, math.IsNaN(m.Facts["a"].(float64)))
	assert.True(t, math.IsInf(m.Facts["b"].(float64), -1))
	assert.Equal(t, "text", m.Facts["c"])
	assert.Equal(t, 3.0, m.Facts["n"])
	assert.Equal(t, []Event{{Tick: 2, Kind: "dr", Name: "friction", Envs: []int{3}, Count: 4, Detail: map[string]any{"x": []any{1.0, "NaN"}}}}, m.Events)
}

// A manifest that cannot be read at all leaves what the entries tell.
func TestManifestUnreadable(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for _, c := range []struct {
		name, want string
		manifest   zipEntry
	}{
		{"not UTF-8", "is not UTF-8 text", manifestOf("{\"format\":\"\xff\xfe\"}")},
		{"empty", "does not parse as a JSON object: unexpected end of JSON input", manifestOf("")},
		{"null", "does not parse as a JSON object: it is null", manifestOf("null")},
		{"a list", "does not parse as a JSON object", manifestOf("[]")},
		{"cut", "does not parse as a JSON object: unexpected end", manifestOf(`{"format":"nanguard-dump","ver`)},
		{"two documents", "does not parse as a JSON object", manifestOf(`{} {}`)},
		{"deep", "does not parse as a JSON object", manifestOf(`{"facts":` + deep + `}`)},
		{"floats", "bytes (uint8, one dimension) were expected", npyOf("_nanguard", "<f8", "(1,)", f64(1))},
		{"two dimensions", "bytes (uint8, one dimension) were expected", npyOf("_nanguard", "|u1", "(1, 2)", []byte("{}"))},
		{"pickle", "bytes (uint8, one dimension) were expected", npyOf("_nanguard", "|O", "()", []byte("N."))},
		{"long", "over limit 8.5 MiB; --max-bytes raises it", npyOf("_nanguard", "|u1", "(9000000,)", make([]byte, 9_000_000))},
	} {
		f := mustOpen(t, append(fieldX(), c.manifest, stateEntry(0, 0), metaEntry(2, 3, nil))...)
		assert.Contains(t, warnText(f), `entry "_nanguard": `, c.name)
		assert.Contains(t, warnText(f), c.want, c.name)
		assert.Contains(t, warnText(f), "the dump is read without its manifest", c.name)
		assert.Equal(t, []int{3, 5}, f.Manifest().EnvIDs, c.name)
		s, err := f.Frames("x")
		require.NoError(t, err, c.name)
		assert.Equal(t, []int64{10, 11}, s.Ticks, c.name)
		assert.Equal(t, []int64{0}, f.States().Steps, c.name)
	}
}

// Without a manifest the place of a field in the loop is told from its name.
func TestFieldsWithoutManifest(t *testing.T) {
	t.Parallel()
	var entries []zipEntry
	for _, name := range []string{"loss.value", "obs.policy", "qvel", "something", "normalizer.count"} {
		entries = append(entries, npyOf("field."+name, "<f4", "(1, 1)", make([]byte, 4)),
			npyOf("field."+name+".tick", "<i8", "(1,)", i64(1)), npyOf("field."+name+".count", "<i8", "(1,)", i64(1)))
	}
	f := mustOpen(t, append(entries, manifestOf("{"), npyOf("field.lost", "<f4", "(1, 1)", make([]byte, 4)))...)
	var got []string
	for _, s := range f.Manifest().Fields {
		got = append(got, fmt.Sprint(s.Name, " ", s.Stage, " ", s.Clock, " ", s.DType))
	}
	assert.Equal(t, []string{
		"qvel physics substep float32", "obs.policy obs step float32", "normalizer.count normalizer step float32",
		"loss.value loss minibatch float32", "something monitor step float32",
	}, got)
}

func TestManifestAgainstMetadata(t *testing.T) {
	t.Parallel()
	unlisted := []zipEntry{npyOf("field.y", "<f8", "(1, 1)", f64(1)), npyOf("field.y.tick", "<i8", "(1,)", i64(1)), npyOf("field.y.count", "<i8", "(1,)", i64(1))}
	other := mustOpen(t, append(append(fieldX(), unlisted...), manifestOf(manifestWith("")), stateEntry(0, 0), metaEntry(2, 3, map[string]any{"nan_env_ids": []int{6}}))...)
	assert.Equal(t, `env 6 went bad, but the rows are envs 3, 5: the culprit is not in this file
entry "field.y": not in the manifest and not shown`, warnText(other))
	f := mustOpen(t, append(fieldX(), manifestOf(manifestWith("")), metaEntry(2, 3, map[string]any{"dumped_env_ids": []int{3, 6}, "nan_env_ids": []int{3, 4}}), stateEntry(0, 0))...)
	assert.Contains(t, warnText(f), "the manifest's env_ids and the metadata's dumped_env_ids disagree; the manifest counts")
	assert.Equal(t, []int{4}, f.States().CulpritsMissing)
	f = mustOpen(t, append(fieldX(), manifestOf(manifestWith(`,"env_ids":[],"env_roles":[],"num_envs":0`)), metaEntry(2, 3, nil))...)
	assert.Equal(t, []int{3, 5}, f.Manifest().EnvIDs)
	assert.Equal(t, []Role{RoleCulprit, RoleCulprit}, f.Manifest().EnvRoles)
	assert.Equal(t, 8, f.Manifest().NumEnvs)
	assert.Empty(t, f.Warnings())
}

// Lists may be of any length; they are cut where a sound file never gets to.
func TestManifestIsBounded(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat("{},", maxEvents+10), ",")
	f := mustOpen(t, append(fieldX(), manifestOf(manifestWith(`,"events":[`+many+`]`)))...)
	assert.Len(t, f.Manifest().Events, maxEvents)
	assert.Contains(t, warnText(f), "events has more than 100000 items; the first are kept")
	many = strings.TrimSuffix(strings.Repeat(`{"name":"y"},`, maxFields+10), ",")
	f = mustOpen(t, append(fieldX(), manifestOf(manifestWith(`,"fields":[`+many+`]`)))...)
	assert.Len(t, f.Manifest().Fields, 1)
	assert.LessOrEqual(t, len(f.Warnings()), maxWarnings+1)
	many = strings.TrimSuffix(strings.Repeat("7,", 300_000), ",")
	f = mustOpen(t, append(fieldX(), manifestOf(manifestWith(`,"fields":[`+many+`]`)))...)
	assert.Empty(t, f.Manifest().Fields)
}

func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	f := &File{warned: map[string]bool{}}
	for i := range 1000 {
		f.warn(fmt.Errorf("doubt %d", i/2), nil)
	}
	w := f.Warnings()
	require.Len(t, w, maxWarnings+1)
	assert.EqualError(t, w[1], "doubt 1")
	assert.EqualError(t, w[maxWarnings], "more than 100 warnings; the rest is not shown")
}
