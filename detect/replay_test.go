package detect

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// The frames of real training runs, played through a guard check by check, give
// the trip, the first bad values and the states that the independent writer of
// those dumps recorded.
func TestReplayOfRealRuns(t *testing.T) {
	t.Parallel()
	runs, err := filepath.Glob("../../shared/dumps/mjlab_runs/*/nan_dump.npz")
	require.NoError(t, err)
	if len(runs) == 0 {
		t.Skip("../shared/dumps/mjlab_runs is absent: no real runs to replay")
	}
	for _, run := range runs {
		t.Run(filepath.Base(filepath.Dir(run)), func(t *testing.T) {
			t.Parallel()
			f, err := dump.Open(run)
			require.NoError(t, err)
			defer f.Close()
			replay(t, f)
		})
	}
}

// recorded is one field of a recorded run.
type recorded struct {
	id    FieldID
	clock int
	*dump.Series
}

func replay(t *testing.T, f *dump.File) {
	m := f.Manifest()
	cfg := testConfig(t, len(m.EnvIDs))
	cfg.RingBytes, cfg.MaxFrames, cfg.PostFrames = 64<<20, 1000, 100
	g := newGuard(t, cfg)
	var fields []recorded
	var ticks []int64
	for _, spec := range m.Fields {
		s, err := f.Frames(spec.Name)
		require.NoError(t, err)
		id, err := g.Bind(spec.Name, frameRef(s, 0), FieldOptions{Shared: !spec.PerEnv})
		require.NoError(t, err)
		assert.Equal(t, spec.Stage, g.fields[id].spec.Stage, spec.Name)
		assert.Equal(t, spec.Clock, g.fields[id].spec.Clock, spec.Name)
		fields = append(fields, recorded{id, g.fields[id].clock, s})
		ticks = append(ticks, s.Ticks...)
	}
	require.NoError(t, g.allot())
	slices.Sort(ticks)
	for _, tick := range slices.Compact(ticks) {
		replayTick(t, g, fields, tick)
	}
	for c, n := range m.Clocks {
		onHost(g).at.counts[clockIndex(c)] = n
	}
	path, err := g.Dump("replay")
	require.NoError(t, err)
	again := open(t, path)

	inFile := m.Trip != nil && (m.Trip.Env == nil || slices.Contains(m.EnvIDs, *m.Trip.Env))
	if inFile {
		want := *m.Trip
		want.Env = rowOf(m.EnvIDs, want.Env)
		assert.Equal(t, &want, again.Manifest().Trip)
	}
	assert.Equal(t, m.Trip == nil, again.Manifest().Trip == nil)
	for i, b := range again.Manifest().FirstBad {
		b.EnvsBad = m.FirstBad[i].EnvsBad // of all envs there, of those in the file here
		want := m.FirstBad[i]
		want.Env = rowOf(m.EnvIDs, want.Env)
		assert.Equal(t, want, b)
	}
	assert.Len(t, again.Manifest().FirstBad, len(m.FirstBad))
	assertSameStates(t, f, again)
}

// replayTick makes the check of one tick.
func replayTick(t *testing.T, g *Guard, fields []recorded, tick int64) {
	t.Helper()
	var refs []FieldRef
	clock := 0
	for _, f := range fields {
		if i, found := slices.BinarySearch(f.Ticks, tick); found {
			refs = append(refs, FieldRef{f.id, frameRef(f.Series, i)})
			clock = f.clock
			onHost(g).at.counts[clock] = f.Counts[i]
		}
	}
	onHost(g).at.tick = tick - 1
	require.NoError(t, g.CheckSame(clocks[clock], refs...))
}

// frameRef returns a frame of a series as the loop would give it.
func frameRef(s *dump.Series, i int) tensor.Ref {
	a := s.Values.Frame(i)
	size := a.DType.Size()
	return tensor.Ref{
		Base: unsafe.Pointer(unsafe.SliceData(a.Data)), DType: a.DType,
		Rows: a.Shape[0], Cols: a.Shape[1], RowStride: a.Shape[1] * size, ColStride: size,
	}
}

// rowOf returns the row of an env in the file.
func rowOf(envIDs []int, env *int) *int {
	if env == nil {
		return nil
	}
	return ptr(slices.Index(envIDs, *env))
}

// assertSameStates compares the states of the steps that both files have: qpos
// and qvel, which come first. Between env steps resets and pushes of the robot
// change the state after those runs looked at it, so the first substep of an env
// step is left out.
func assertSameStates(t *testing.T, want, got *dump.File) {
	t.Helper()
	a, err := want.Frames(dump.StateField)
	require.NoError(t, err)
	b, err := got.Frames(dump.StateField)
	require.NoError(t, err)
	assert.Equal(t, a.Counts[len(a.Counts)-1], b.Counts[len(b.Counts)-1])
	decimation := int64(want.Manifest().Facts["sim.decimation"].(float64))
	compared := 0
	for i, step := range b.Counts {
		k, found := slices.BinarySearch(a.Counts, step)
		if !found || step%decimation == 0 {
			continue
		}
		for row, env := range b.EnvIDs { // envs of the replay are rows of the run's dump
			from, to := a.Values.Frame(k).Frame(env), b.Values.Frame(i).Frame(row)
			require.True(t, bytes.HasPrefix(from.Data, to.Data), "step %d, row %d", step, env)
			compared++
		}
	}
	assert.Equal(t, decimation > 1, compared > 0)
}
