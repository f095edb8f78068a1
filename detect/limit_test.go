package detect

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// A value above its limit trips before it is NaN; the dump has no trip then, and
// says why it is there.
func TestLimitTrips(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 10)
	var told []dump.Trip
	cfg.OnTrip = func(trip dump.Trip) { told = append(told, trip) }
	g := newGuard(t, cfg)
	qvel := bind(t, g, "qvel", 2, FieldOptions{Limit: 100})
	qvel[3], qvel[13] = 100, -100 // at the limit is within it
	check(t, g, dump.ClockSubstep)
	_, tripped := g.Poll()
	require.False(t, tripped)
	qvel[13], qvel[16] = -100.5, 200
	check(t, g, dump.ClockSubstep)

	want := dump.Trip{Tick: 2, Clock: dump.ClockSubstep, Count: 2, Field: "qvel", Env: ptr(6), Col: 1, Class: ClassLimit}
	v, tripped := g.Wait()
	require.True(t, tripped)
	require.NoError(t, v.Error)
	assert.Equal(t, want, v.Trip)
	assert.Equal(t, []dump.Trip{want}, told)
	f := open(t, v.Path)
	m := f.Manifest()
	assert.Nil(t, m.Trip)
	assert.Empty(t, m.FirstBad)
	assert.Equal(t, []int{6, 2, 7}, m.EnvIDs)
	assert.Equal(t, []dump.Role{dump.RoleSuspect, dump.RoleControl, dump.RoleControl}, m.EnvRoles)
	assert.Equal(t, []any{}, f.Metadata().Values["nan_env_ids"])
	assert.Equal(t, []dump.Event{{
		Tick: 2, Kind: dump.EventWarning, Name: "qvel", Envs: []int{6}, Count: 1,
		Detail: "precursor: qvel of env 6, column 1 is above its limit of 100",
	}}, m.Events)
}

func TestGrowthTrips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		growth Growth
		values []float32
		want   int64 // tick of the trip, 0 for none
	}{
		{"threefold in two frames", Growth{Factor: 3, Frames: 2}, []float32{1, 1, 3, 3.1}, 4},
		{"no past yet", Growth{Factor: 3, Frames: 3}, []float32{1, 10, 100}, 0},
		{"below the floor", Growth{Factor: 3, Frames: 2, Floor: 50}, []float32{0.1, 1, 10, 50, 51}, 5},
		{"from nothing", Growth{Factor: 3, Frames: 2}, []float32{0, 0, 1e-9}, 3},
		{"shrinking", Growth{Factor: 1.5, Frames: 2}, []float32{8, 7, 6, 5, 4}, 0},
		{"either sign", Growth{Factor: 2, Frames: 2}, []float32{-4, 5, 6, -11}, 4},
	} {
		g := newGuard(t, testConfig(t, 3))
		loss := bind(t, g, "loss.value", 1, FieldOptions{Shared: true, Growth: c.growth})
		for _, v := range c.values {
			loss[0] = v
			check(t, g, dump.ClockMinibatch)
		}
		v, tripped := g.Wait()
		assert.Equal(t, c.want != 0, tripped, c.name)
		if !tripped {
			continue
		}
		assert.Equal(t, dump.Trip{Tick: c.want, Clock: dump.ClockMinibatch, Count: c.want, Field: "loss.value", Class: ClassGrowth}, v.Trip, c.name)
		require.NoError(t, v.Error, c.name)
		assert.Contains(t, open(t, v.Path).Manifest().Events[0].Detail, "precursor: loss.value of column 0 is above", c.name)
	}
}

// Integers and half floats have limits too.
func TestLimitsOfOtherTypes(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 3))
	ncon := []int32{4, 7, 6}
	_, err := g.Bind("ncon", tensor.RefOf(ncon, 3, 1), FieldOptions{Limit: 64})
	require.NoError(t, err)
	check(t, g, dump.ClockSubstep)
	ncon[2] = -65
	check(t, g, dump.ClockSubstep)
	v, _ := g.Wait()
	assert.Equal(t, dump.Trip{Tick: 2, Clock: dump.ClockSubstep, Count: 2, Field: "ncon", Env: ptr(2), Class: ClassLimit}, v.Trip)
}

func TestLimitsAreLookedAt(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]FieldOptions{
		"limit -1, want a positive one, or 0 for none":      {Limit: -1},
		"limit NaN, want a positive one, or 0 for none":     {Limit: math.NaN()},
		"growth by 0 above 0, want positive numbers":        {Growth: Growth{Frames: 3}},
		"growth by NaN above 0, want positive numbers":      {Growth: Growth{Factor: math.NaN(), Frames: 3}},
		"growth by 2 above -1, want positive numbers":       {Growth: Growth{Factor: 2, Frames: 3, Floor: -1}},
		"growth over 1 frames, want 2 to 9999":              {Growth: Growth{Factor: 2, Frames: 1}},
		"growth over 10000 frames, want 2 to 9999":          {Growth: Growth{Factor: 2, Frames: 10_000}},
		"growth by +Inf above 1e+06, want positive numbers": {Growth: Growth{Factor: math.Inf(1), Frames: 2, Floor: 1e6}},
	} {
		g := newGuard(t, testConfig(t, 3))
		_, err := g.Bind("qvel", tensor.RefOf(make([]float32, 3), 3, 1), o)
		require.EqualError(t, err, `bind: field "qvel": `+want)
	}
}

// After a dump the guard rests: what goes on failing is dumped again when the
// rest is over, and not before.
func TestCooldown(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	now := cfg.Now()
	cfg.Now = func() time.Time { return now }
	cfg.MaxDumps, cfg.Cooldown = 3, time.Minute
	g := newGuard(t, cfg)
	qvel := bind(t, g, "qvel", 1, FieldOptions{})
	qvel[1] = nan
	check(t, g, dump.ClockSubstep)
	first, _ := g.Wait()
	now = now.Add(59 * time.Second)
	check(t, g, dump.ClockSubstep, dump.ClockSubstep)
	path, err := g.Dump("RuntimeError: raised after the dump")
	require.ErrorIs(t, err, ErrNothingNew)
	assert.Equal(t, first.Path, path)
	v, _ := g.Wait()
	assert.Equal(t, first, v)

	now = now.Add(time.Second)
	check(t, g, dump.ClockSubstep)
	v, _ = g.Wait()
	assert.Equal(t, int64(4), v.Trip.Tick)
	assert.Len(t, dumpFiles(t, g), 2)
	_, err = New(Config{NumEnvs: 1, Cooldown: -1})
	require.Error(t, err)
}
