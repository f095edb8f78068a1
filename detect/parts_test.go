package detect

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// A look before the first substep is state 0; of two looks at one count the
// later, taken after a reset, is what the next substep began with.
func TestStatesBeforeEachSubstep(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 2))
	qpos, qvel := bind(t, g, "qpos", 1, FieldOptions{}), bind(t, g, "qvel", 1, FieldOptions{})
	act, err := g.Bind("act", tensor.RefOf([]float64{0.5, 0.25}, 2, 1), FieldOptions{})
	require.NoError(t, err)
	look := func(check func(dump.Clock, ...FieldRef) error, p float32) {
		qpos[0], qvel[0] = p, -p
		require.NoError(t, check(dump.ClockSubstep))
	}
	look(g.CheckSame, 100)
	look(g.Check, 101)
	look(g.Check, 102)
	look(g.CheckSame, 112) // after a reset
	look(g.Check, 103)
	look(g.CheckSame, 113)
	path, err := g.Dump("asked", 0)
	require.NoError(t, err)
	f := open(t, path)
	assert.Equal(t, []int64{0, 1, 2}, f.States().Steps)
	assert.Equal(t, []float64{
		100, -100, 0.5, 0, 0, 0.25,
		101, -101, 0.5, 0, 0, 0.25,
		112, -112, 0.5, 0, 0, 0.25,
	}, values(t, f, dump.StateField))
	assert.Equal(t, tensor.Float64, g.fields[act].ref.DType)
}

// Without qpos and qvel there are no states, and no entry pretends otherwise.
func TestNoStatesWithoutQvel(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 2))
	bind(t, g, "qpos", 1, FieldOptions{})
	check(t, g, dump.ClockSubstep, dump.ClockSubstep)
	path, err := g.Dump("asked")
	require.NoError(t, err)
	f := open(t, path)
	assert.Nil(t, f.States())
	assert.Equal(t, int64(0), f.Metadata().Values["state_size"])
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	loop := []string{ // in the order of a training loop
		"model.geom_friction", "ctrl", "ncon", "contact.dist", "nefc", "solver_niter", "solver_overflow", "qacc", "qacc_warmstart",
		"qvel", "qpos", "act", "sensordata", "episode_step", "termination.fell", "done", "reward.upright", "reward", "reward.normalized",
		"obs.policy", "normalizer.count", "normalizer.mean", "normalizer.var", "obs.policy.normalized", "policy.mean", "policy.log_std",
		"policy.std", "policy.entropy", "action", "log_prob", "value", "return", "advantage", "reward.batch", "value.next", "alpha",
		"loss.value", "grad.actor.0", "grad_norm", "lr", "param.std", "log_ratio", "kl",
	}
	last := 0.
	for _, name := range loop {
		p, ok := placeOf(name)
		require.True(t, ok, name)
		assert.Greater(t, p.order, last, name)
		last = p.order
	}
	for name, want := range map[string]place{
		"qacc":                   {dump.StagePhysics, dump.ClockSubstep, 15},
		"sensordata":             {dump.StageSensor, dump.ClockSubstep, 18},
		"truncated":              {dump.StageDone, dump.ClockStep, 29},
		"reward.track_lin_vel":   {dump.StageReward, dump.ClockStep, 30},
		"reward.batch":           {dump.StageReward, dump.ClockMinibatch, 70},
		"done.batch":             {dump.StageDone, dump.ClockMinibatch, 70},
		"obs.critic":             {dump.StageObs, dump.ClockStep, 40},
		"obs.actor.normalized":   {dump.StageNormalizer, dump.ClockStep, 50},
		"param.gamma":            {dump.StageParam, dump.ClockMinibatch, 83},
		"advantage":              {dump.StageValue, dump.ClockUpdate, 67},
		"kl":                     {dump.StageMonitor, dump.ClockMinibatch, 91},
		"model.actuator_gainprm": {dump.StageModel, dump.ClockStep, 5},
	} {
		p, _ := placeOf(name)
		assert.Equal(t, want, p, name)
	}
	p, err := locate("height_scan", FieldOptions{Stage: dump.StageSensor, Clock: dump.ClockStep, Order: 41})
	require.NoError(t, err)
	assert.Equal(t, place{dump.StageSensor, dump.ClockStep, 41}, p)
	p, err = locate("policy.entropy", FieldOptions{Stage: dump.StageMonitor})
	require.NoError(t, err)
	assert.Equal(t, stagePlaces[dump.StageMonitor], p)
}

func TestPlan(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 1024)
	cfg.RingBytes, cfg.MaxFrames = 8<<20, 500
	g := newGuard(t, cfg)
	bind(t, g, "qpos", 36, FieldOptions{})
	bind(t, g, "qvel", 35, FieldOptions{})
	bind(t, g, "obs.policy", 99, FieldOptions{})
	bind(t, g, "reward", 1, FieldOptions{})
	bind(t, g, "lr", 1, FieldOptions{Shared: true})
	assert.Equal(t, "ring 8 MiB: qpos 13 frames, qvel 13 frames, obs.policy 6 frames, reward 428 frames, lr 500 frames", g.Plan())
	frames, err := g.plan()
	require.NoError(t, err)
	used := 0
	for i, f := range g.fields {
		used += frames[i] * f.ref.Bytes()
	}
	assert.LessOrEqual(t, used, 8<<20)
	assert.Greater(t, used, 7<<20)
	check(t, g, dump.ClockStep)
	for i, f := range onHost(g).fields {
		assert.Len(t, f.ring.ticks, frames[i])
	}
}

func TestRingTooSmall(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 1024)
	cfg.PostFrames = 1
	g := newGuard(t, cfg)
	bind(t, g, "qpos", 64, FieldOptions{})
	bind(t, g, "obs.policy", 256, FieldOptions{})
	const want = "check: ring of 1 MiB cannot hold 3 frames of each field: 3.8 MiB are needed (qpos 256 KiB a frame, obs.policy 1 MiB a frame)"
	require.EqualError(t, g.Check(dump.ClockStep), want)
	assert.Equal(t, want, g.Plan())
	cfg.PostFrames = 1 << 60
	g = newGuard(t, cfg)
	bind(t, g, "qpos", 64, FieldOptions{})
	require.ErrorContains(t, g.Check(dump.ClockSubstep), "check: ring of 1 MiB cannot hold 1152921504606846978 frames of each field")
}

// Events of a run of days are bounded; what is dropped is said.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 4))
	bind(t, g, "value", 1, FieldOptions{})
	g.Note(dump.Event{Kind: dump.EventCurriculum, Detail: "level 1"})
	for range 10_000 {
		check(t, g, dump.ClockStep)
		g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{1, 3}})
	}
	path, err := g.Dump("asked", 3)
	require.NoError(t, err)
	events := open(t, path).Manifest().Events
	assert.LessOrEqual(t, len(events), maxEvents+2)
	assert.Equal(t, dump.Event{Kind: dump.EventCurriculum, Detail: "level 1"}, events[0])
	last := events[len(events)-3:]
	assert.Equal(t, dump.Event{Tick: 10_000, Kind: dump.EventReset, Envs: []int{3, 1}[:1], Count: 2}, last[0])
	assert.Equal(t, fmt.Sprintf("%d events were dropped to keep 4096, old resets first", 10_001-(len(events)-2)), last[1].Detail)
	assert.Equal(t, "asked", last[2].Detail)

	big := make([]int, maxEventEnvs/2)
	for range 5 {
		g.Note(dump.Event{Kind: dump.EventReset, Envs: big})
	}
	assert.LessOrEqual(t, g.events.envs, maxEventEnvs)
}

// What the caller changes after Note does not change the event.
func TestNoteCopies(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 4))
	envs, detail := []int{0}, map[string]any{"mass": math.Inf(1)}
	g.Note(dump.Event{Kind: dump.EventDR, Envs: envs, Detail: detail})
	g.Note(dump.Event{Kind: dump.EventNote, Detail: func() {}, Tick: 7})
	envs[0], detail["mass"] = 3, 0
	assert.Equal(t, dump.Event{Kind: dump.EventDR, Envs: []int{0}, Count: 1, Detail: map[string]any{"mass": "Infinity"}}, g.events.list[0].Event)
	assert.Equal(t, "detail left out: json: unsupported type: func()", g.events.list[1].Detail)
	assert.Equal(t, int64(7), g.events.list[1].Tick)
}

// A field that a captured graph reads at its address is watched for a move.
func TestBufferMoved(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 2))
	a, b := make([]float32, 2), make([]float32, 2)
	t.Cleanup(func() { _, _ = a, b }) // on the heap: what lies on a stack moves with it
	obs, err := g.Bind("obs.policy", tensor.RefOf(a, 2, 1), FieldOptions{})
	require.NoError(t, err)
	value, err := g.Bind("value", tensor.RefOf(a, 2, 1), FieldOptions{})
	require.NoError(t, err)
	at := func(s []float32) uint64 { return uint64(uintptr(unsafe.Pointer(&s[0]))) }
	g.Note(dump.Event{Kind: dump.EventGraphCapture, Detail: map[string]any{
		"graph": "step", "reads": map[string]any{"obs.policy": at(a), "value": 1, "elsewhere": at(b)},
	}})
	for _, s := range [][]float32{a, b, b, a, b} {
		require.NoError(t, g.Check(dump.ClockStep, FieldRef{obs, tensor.RefOf(s, 2, 1)}, FieldRef{value, tensor.RefOf(s, 2, 1)}))
	}
	require.NoError(t, g.Fact("address.value", 2))
	path, err := g.Dump("asked")
	require.NoError(t, err)
	m := open(t, path).Manifest()
	require.Len(t, m.Events, 3)
	assert.Equal(t, dump.EventBufferMoved, m.Events[1].Kind)
	assert.Equal(t, int64(2), m.Events[1].Tick)
	assert.Equal(t, map[string]any{"field": "obs.policy", "from": float64(at(a)), "to": float64(at(b))}, m.Events[1].Detail)
	assert.Equal(t, map[string]any{"address.obs.policy": float64(at(b)), "address.value": 2.}, m.Facts)
}

func TestExceptionText(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"RuntimeError: normal expects", "torch.cuda.OutOfMemoryError: x", "KeyboardInterrupt", "panic: x", "SystemExit: 1"} {
		assert.True(t, exceptionText.MatchString(reason), reason)
	}
	for _, reason := range []string{"", "end of run", "asked by user after an Error", "Errors were seen"} {
		assert.False(t, exceptionText.MatchString(reason), reason)
	}
	assert.False(t, strings.Contains(ErrClosed.Error(), "."))
}
