package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// TestInspectSpellsNonFiniteFacts inspects a dump whose facts and events hold
// what JSON has no number for.
func TestInspectSpellsNonFiniteFacts(t *testing.T) {
	inf := dump.Event{Kind: dump.EventDR, Detail: map[string]any{"scale": "Infinity"}}
	path, err := dump.WriteFile(t.TempDir(), &dump.Draft{
		Manifest: dump.Manifest{
			Producer: dump.Producer{Name: "test"}, NumEnvs: 1, EnvIDs: []int{0}, EnvRoles: []dump.Role{dump.RoleControl},
			Facts: map[string]any{"lr": "NaN", "seen": "-Infinity", "sim.timestep": 0.005}, Events: []dump.Event{inf},
			Fields: []dump.FieldSpec{{Name: "qvel", Stage: dump.StagePhysics, Clock: dump.ClockSubstep, DType: "float32", PerEnv: true}},
		},
		Fields: []dump.FieldDraft{{Name: "qvel", Frames: &dump.Series{
			Ticks: []int64{1}, Counts: []int64{1}, EnvIDs: []int{0}, Values: tensor.NewArray(tensor.Float32, 1, 1, 2),
		}}},
		Meta: dump.MetaDraft{Timestamp: "20260102_030405"},
	})
	require.NoError(t, err)
	var out, errs bytes.Buffer
	require.Zero(t, run(context.Background(), []string{"inspect", "--json", path}, nil, &out, &errs), errs.String())
	var got struct {
		Facts  map[string]any
		Events []dump.Event
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	assert.Equal(t, map[string]any{"lr": "NaN", "seen": "-Infinity", "sim.timestep": 0.005}, got.Facts)
	assert.Equal(t, []dump.Event{inf}, got.Events)
}
