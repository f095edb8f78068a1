package dump

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// Every mistake in a draft is named with its field, and nothing is written.
func TestWriteFileRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(d *Draft)
		want  string
	}{
		{"roles", func(d *Draft) { d.Manifest.EnvRoles = nil }, "env_roles: 0 roles for 3 env_ids"},
		{"env out of range", func(d *Draft) { d.Manifest.EnvIDs[0] = 8 }, "env 8 is out of 0..7"},
		{"env twice", func(d *Draft) { d.Manifest.EnvIDs[0] = 2 }, "env 2 is out of 0..7 or there twice"},
		{"bad envs unsorted", func(d *Draft) { d.Meta.BadEnvIDs = []int{6, 2} }, "bad env ids: env 2"},
		{"name", func(d *Draft) { d.Manifest.Fields[0].Name = "q pos" }, `field "q pos": a name is made of`},
		{"no name", func(d *Draft) { d.Manifest.Fields[0].Name = "" }, "field without a name"},
		{"long name", func(d *Draft) { d.Manifest.Fields[0].Name = strings.Repeat("x", 201) }, "201 bytes over limit 200"},
		{"name that climbs", func(d *Draft) { d.Manifest.Fields[0].Name = "a/../../b" }, `".." is no part of a name`},
		{"taken name", func(d *Draft) { d.Manifest.Fields[0].Name = "state" }, `field "state": the name is taken`},
		{"name twice", func(d *Draft) { d.Manifest.Fields[1].Name = "qpos" }, `field "qpos": entry "field.qpos" belongs to field "qpos"`},
		{"entries collide", func(d *Draft) { d.Manifest.Fields[1].Name = "qpos.count" }, `field "qpos.count": entry "field.qpos.count" belongs to field "qpos"`},
		{"order", func(d *Draft) { d.Manifest.Fields[0].Order = math.NaN() }, `field "qpos": order NaN is not finite`},
		{"unknown field", func(d *Draft) { d.Fields[0].Name = "nope" }, `field "nope": not in the manifest`},
		{"field twice", func(d *Draft) { d.Fields = append(d.Fields, d.Fields[1]) }, `field "qpos": not in the manifest, or drafted twice`},
		{"rows", func(d *Draft) { d.Fields[1].Frames.Values.Shape = []int{3, 1, 9} }, `field "qpos": frames: shape [3 1 9], want 3 frames x 3 rows x columns`},
		{"shared rows", func(d *Draft) { d.Fields[2].Frames.Values.Shape = []int{2, 2, 1} }, `field "policy.std": frames: shape [2 2 1], want 2 frames x 1 rows`},
		{"dimensions", func(d *Draft) { d.Fields[1].Frames.Values.Shape = []int{27} }, `field "qpos": frames: shape [27]`},
		{"bytes", func(d *Draft) { d.Fields[1].Frames.Values.Data = nil }, `field "qpos": frames: 0 bytes of float32 for shape [3 3 3], want 108`},
		{"dtype", func(d *Draft) { d.Manifest.Fields[0].DType = "int32" }, `field "qpos": frames of float32, the manifest says int32`},
		{"labels", func(d *Draft) { d.Manifest.Fields[0].Cols = []string{"x"} }, `field "qpos": 1 labels for 3 columns`},
		{"ticks", func(d *Draft) { d.Fields[1].Frames.Ticks[2] = 3 }, `field "qpos": tick 3 stands after 3, want ascending`},
		{"counts", func(d *Draft) { d.Fields[1].Frames.Counts = nil }, `field "qpos": 3 ticks and 0 counts`},
		{"trace", func(d *Draft) { d.Fields[1].Trace.Mean = nil }, `field "qpos": trace: column 7 has 0 entries, want 2`},
		{"state dtype", func(d *Draft) { d.States.Values.DType = tensor.Float32 }, "states of float32, want float64"},
		{"state rows", func(d *Draft) { d.States.Values.Shape = []int{2, 5, 3} }, "states: shape [2 5 3], want 2 frames x 3 rows"},
		{"state steps", func(d *Draft) { d.States.Steps[0] = -1 }, "states: negative step number"},
		{"state order", func(d *Draft) { d.States.Steps[0] = 2_000_000 }, "states: step 1000000 stands after 2000000"},
		{"timestamp", func(d *Draft) { d.Meta.Timestamp = "../x" }, `timestamp "../x", want YYYYMMDD_HHMMSS`},
		{"trip field", func(d *Draft) { d.Manifest.Trip.Field = "qvel" }, `trip: field "qvel" is not in the manifest`},
		{"trip env", func(d *Draft) { d.Manifest.Trip.Env = nil }, `trip: field "qpos": an env is given exactly`},
		{"class", func(d *Draft) { d.Manifest.FirstBad[0].Class = "finite" }, `first_bad 0: class "finite", want nan, posinf or neginf`},
		{"fact", func(d *Draft) { d.Manifest.Facts["x"] = []int{1} }, `fact "x": value of type []int, want a number, a string or a bool`},
		{"detail", func(d *Draft) { d.Manifest.Events[1].Detail = map[int]int{1: 1} }, "event 1 (dr): detail: keys of type int, want strings"},
		{"detail that JSON has not", func(d *Draft) { d.Manifest.Events[0].Detail = []any{1, func() {}} }, "event 0 (reset): detail: [1]: json: unsupported type: func()"},
		{"detail in itself", func(d *Draft) {
			m := map[string]any{}
			m["m"] = m
			d.Manifest.Events[0].Detail = m
		}, "nested deeper than 32"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		d := sampleDraft()
		c.spoil(d)
		path, err := WriteFile(dir, d)
		require.ErrorContains(t, err, c.want, c.name)
		assert.Contains(t, err.Error(), "write dump into ", c.name)
		assert.Empty(t, path, c.name)
		if _, err := os.Stat(dir); err == nil {
			assert.Empty(t, namesIn(t, dir), c.name)
		}
	}
}

func TestCheckNameTakesTheNamesOfTheFormat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"qpos", "obs.policy.normalized", "reward.track_lin_vel", "param.actor/0.weight", "grad.layer-1", "A9"} {
		assert.NoError(t, CheckName(name), name)
	}
}

// What Plain returns is plain already: a detail may pass through it twice.
func TestPlain(t *testing.T) {
	t.Parallel()
	type inner struct {
		A int `json:"a"`
	}
	in := map[string]any{
		"int": 7, "address": uint64(1) << 47, "text": "x", "bool": true, "nil": nil, "nan": math.NaN(), "f32": float32(0.5),
		"list": []any{math.Inf(1), []int{1}}, "struct": inner{3}, "pointer": &inner{4}, "number": json.Number("12"), "raw": json.RawMessage(`[1]`),
	}
	const want = `{"address":140737488355328,"bool":true,"f32":0.5,"int":7,"list":["Infinity",[1]],"nan":"NaN","nil":null,"number":12,` +
		`"pointer":{"a":4},"raw":[1],"struct":{"a":3},"text":"x"}`
	v := any(in)
	for range 2 {
		var err error
		v, err = Plain(v)
		require.NoError(t, err)
		b, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(b))
	}
}
