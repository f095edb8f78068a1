package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/fixtures"
	"github.com/nanguard/nanguard/fixtures/score"
	"github.com/nanguard/nanguard/tensor"
)

func TestHalf(t *testing.T) {
	t.Parallel()
	for f, want := range map[float32]uint16{
		0: 0, 1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65519: 0x7bff, 65520: 0x7c00, 1e9: 0x7c00,
		float32(math.Ldexp(1, -24)): 1, float32(math.Ldexp(1, -26)): 0, 1.0009765625: 0x3c01, 1.00048828125: 0x3c00,
	} {
		assert.Equal(t, want, half(f), "%v", f)
	}
	assert.Equal(t, uint16(0xfc00), half(float32(math.Inf(-1))))
	assert.Equal(t, tensor.NaN, tensor.Float16.Classify(uint64(half(float32(math.NaN())))))
	for h := range uint64(0x7c00) { // every finite half comes back
		require.Equal(t, uint16(h), half(float32(tensor.Float16.Float64(h))))
	}
}

// TestVersions looks at one dump in every version.
func TestVersions(t *testing.T) {
	t.Parallel()
	res, err := fixtures.Run(context.Background(), fixtures.Options{Fault: "contact", Seed: 0, Dir: t.TempDir()})
	require.NoError(t, err)
	f, err := dump.Open(res.Path)
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, "qacc", f.Manifest().Trip.Field)
	fields := map[string]int{}
	for _, v := range versions {
		src := v.view(f)
		require.NotNil(t, src, v.name)
		for _, s := range src.Manifest().Fields {
			fields[v.name]++
			q, err := src.Frames(s.Name)
			require.NoError(t, err, "%s %s", v.name, s.Name)
			assert.Len(t, q.Values.Data, q.Values.Len()*q.Values.DType.Size())
			assert.Len(t, q.Ticks, q.Values.Shape[0])
			if s.PerEnv {
				assert.Equal(t, src.Manifest().EnvIDs, q.EnvIDs, "%s %s", v.name, s.Name)
			}
		}
	}
	assert.Equal(t, fields["full"], fields["10-frames"])
	assert.Less(t, fields["rsl-rl"], fields["full"])
	assert.Less(t, fields["sb3"], fields["rsl-rl"])
	assert.LessOrEqual(t, fields["mjlab"], 1)

	rsl := only(learnerFields)(f)
	assert.NotEqual(t, "qacc", rsl.Manifest().Trip.Field, "there is no physics")
	_, err = rsl.Frames("qacc")
	assert.ErrorIs(t, err, dump.ErrNoEntry)
	q, err := lastFrames(10)(f).Frames("qvel")
	require.NoError(t, err)
	assert.Len(t, q.Ticks, 10)
	q, err = halves(f).Frames("qvel")
	require.NoError(t, err)
	assert.Equal(t, tensor.Float16, q.Values.DType)
	one := oneRank(4)(f).Manifest()
	assert.Equal(t, 16, one.NumEnvs)
	assert.Equal(t, *res.Trip.Env/16, one.Run.Rank)
	assert.Contains(t, one.EnvIDs, *res.Trip.Env)
}

func TestTallyAndReliability(t *testing.T) {
	t.Parallel()
	all := []sample{
		{Want: "a", Mark: score.Mark{First: true, Accepted: true, Three: true, Verdict: "right", Got: "a", Belief: 0.95, Field: score.Right, Env: score.Wrong}},
		{Want: "a", Mark: score.Mark{Three: true, Verdict: "wrong", Got: "b", Belief: 0.92}},
		{Want: "b", Mark: score.Mark{Verdict: "wrong", Got: "clean", Belief: 1}},
		{Want: "clean", Mark: score.Mark{First: true, Got: "clean", Belief: 1}},
		{Want: "clean", Mark: score.Mark{Got: "a", Verdict: "none", Belief: 0.4}},
	}
	got := sum(all, func(sample) bool { return true })
	assert.Equal(t, tally{
		N: 3, First: 1, Accepted: 1, Three: 2, Right: 1, Wrong: 1, Unseen: 1, Clean: 2, Alarms: 1,
		Field: share{1, 1}, Env: share{0, 1},
	}, got)
	bins, ece := reliability(all, accepted)
	assert.Equal(t, 2, bins[9].N)
	assert.InDelta(t, 0.935, bins[9].Belief, 1e-9)
	assert.InDelta(t, 0.5, bins[9].Right, 1e-9)
	assert.InDelta(t, 0.435, ece, 1e-9)
	wants, gots, counts := confusion(all)
	assert.Equal(t, []string{"a", "b", "clean"}, wants)
	assert.Equal(t, []string{"a", "b", "clean"}, gots)
	assert.Equal(t, 1, counts[[2]string{"a", "b"}])
}

// TestTheReport runs the whole program once, small.
func TestTheReport(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds every fixture")
	}
	out := t.TempDir()
	require.NoError(t, run(t.Context(), options{seeds: 0, collection: "../../fixtures/captured/testdata", out: out}, io.Discard))
	var r report
	data, err := os.ReadFile(filepath.Join(out, "diagnosis.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &r))
	assert.Positive(t, r.Captured["test"].N)
	assert.Zero(t, r.Captured["test"].Alarms)
	text, err := os.ReadFile(filepath.Join(out, "diagnosis.md"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "| test | ")
	plot, err := os.ReadFile(filepath.Join(out, "diagnosis.svg"))
	require.NoError(t, err)
	assert.Contains(t, string(plot), "</svg>")
}

// Without a collection the report has no captured dumps in it.
func TestNoCollection(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, run(t.Context(), options{seeds: 0, out: out}, io.Discard))
	report, err := os.ReadFile(filepath.Join(out, "diagnosis.md"))
	require.NoError(t, err)
	assert.Contains(t, string(report), "| tune | 0 | - |")
}
