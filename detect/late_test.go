package detect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// The fields of a loop show themselves one after the other: the losses only
// when the first rollout is over.
func TestFieldsBoundLaterTakeTheOldestFrames(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	cfg.RingBytes = 4 * 4 * 20 // 20 frames of one column
	g := newGuard(t, cfg)
	reward := bind(t, g, "reward", 1, FieldOptions{})
	for i := range 30 {
		reward[0] = float32(i)
		check(t, g, dump.ClockStep)
	}
	require.Equal(t, 20, onHost(g).fields[0].ring.n)

	value := bind(t, g, "value", 1, FieldOptions{})
	loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	check(t, g, dump.ClockStep, dump.ClockMinibatch)
	assert.Less(t, onHost(g).fields[0].ring.n, 20)
	value[2], loss[0] = nan, nan
	check(t, g, dump.ClockMinibatch)
	v, tripped := g.Wait()
	require.True(t, tripped)
	require.NoError(t, v.Error)
	assert.Equal(t, dump.Trip{Tick: 33, Clock: dump.ClockMinibatch, Count: 2, Field: "loss.value", Class: "nan"}, v.Trip)

	f := open(t, v.Path)
	s, err := f.Frames("reward")
	require.NoError(t, err)
	assert.Equal(t, int64(31), s.Ticks[len(s.Ticks)-1], "the newest frames stay")
	for i, tick := range s.Ticks[:len(s.Ticks)-1] {
		assert.Equal(t, float64(tick-1), s.Values.Frame(i).Float64(0), "tick %d", tick)
	}
}

func TestALateFieldThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	cfg.RingBytes = 4 * 4 * 3
	g := newGuard(t, cfg)
	reward := bind(t, g, "reward", 1, FieldOptions{})
	check(t, g, dump.ClockStep)
	_, err := g.Bind("value", tensor.RefOf(make([]float32, 4), 4, 1), FieldOptions{})
	require.ErrorContains(t, err, `bind: field "value": ring of 48 B cannot hold 2 frames of each field`)
	reward[1] = nan
	check(t, g, dump.ClockStep)
	v, tripped := g.Wait()
	require.True(t, tripped)
	require.NoError(t, v.Error)
	assert.Equal(t, "reward", v.Trip.Field)
}

// After a trip the frames belong to its dump; what is bound then waits for the
// next one.
func TestAFieldBoundAfterTheTripLeavesItsFramesAlone(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	cfg.RingBytes, cfg.PostFrames, cfg.MaxDumps = 4*4*20, 2, 2
	g := newGuard(t, cfg)
	reward := bind(t, g, "reward", 1, FieldOptions{})
	for range 30 {
		check(t, g, dump.ClockStep)
	}
	reward[1] = nan
	check(t, g, dump.ClockStep)
	value := bind(t, g, "value", 1, FieldOptions{})
	check(t, g, dump.ClockStep)
	assert.Equal(t, 20, onHost(g).fields[0].ring.n)
	check(t, g, dump.ClockStep)
	v, _ := g.Wait()
	require.NoError(t, v.Error)
	require.True(t, v.Done)
	assert.Equal(t, 1, len(open(t, v.Path).Manifest().Fields))

	reward[1], value[3] = 0, nan
	check(t, g, dump.ClockStep, dump.ClockStep, dump.ClockStep)
	v, _ = g.Wait()
	require.NoError(t, v.Error)
	assert.Equal(t, "value", v.Trip.Field)
	assert.Equal(t, 2, len(open(t, v.Path).Manifest().Fields))
}
