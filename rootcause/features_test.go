package rootcause

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
)

// TestFeatures: each feature, yes and no, on the smallest bend of a healthy run.
func TestFeatures(t *testing.T) {
	for _, c := range []struct {
		id         FeatureID
		want, says string
		run        *loopRun
	}{
		{F1, onPhysics, "qvel", runaway(newRun(30), 0)},
		{F1, onSensor, "sensordata", newRun(30).set("sensordata", -1, 0, 1, nan)},
		{F1, onSensor, "obs.policy", newRun(30).set("obs.policy", -1, 0, 1, inf)},
		{F1, onReward, "reward.reach", newRun(30).set("reward.reach", -1, 0, 0, inf)},
		{F1, onObsNorm, "normalized", newRun(30).drop("normalizer.var").set("obs.policy.normalized", -1, 0, 1, nan)},
		{F1, onSensor, "something between", newRun(30).set("obs.policy.normalized", -1, 0, 1, nan)},
		{F1, onStd, "log_prob", newRun(30).set("log_prob", -1, 0, 0, nan)},
		{F1, onLearner, "policy.mean", newRun(30).all("policy.mean", -1, nan)},
		{F1, onLearner, "loss.total", newRun(32).set("loss.total", -1, 0, 0, nan)},
		{F2, no, "no way up", newRun(30).set("qacc", -1, 0, 0, nan)},
		{F2, yes, "of env 7 grew", runaway(newRun(30), 0)},
		{F2, unknown, "not recorded", newRun(30).drop("qvel", "qacc").set("obs.policy", -1, 0, 0, nan)},
		{F3, unknown, "not recorded", runaway(newRun(30).drop("solver_niter"), 0)},
		{F4, unknown, "not recorded", runaway(newRun(30).drop("nefc"), 0)},
		{F5, yes, "the 99.9th percentile of all others", runaway(newRun(30).set("action", -2, 0, 1, 40), 0)},
		{F5, no, "as usual", runaway(newRun(30), 0)},
		{F6, no, "no reward term", runaway(newRun(30), 0)},
		{F6, yes, "over quiet physics", newRun(30).set("reward.reach", -1, 2, 0, nan)},
		{F6, unknown, "not recorded", runaway(newRun(30).drop("reward", "reward.reach", "reward.upright"), 0)},
		{F7, yes, "iteration 3", runaway(newRun(30), 0)},
		{F7, no, "iteration 12", runaway(newRun(100), 0)},
		{F8, "few", "1 of 48 envs", newRun(30).set("qacc", -1, 1, 0, nan)},
		{F8, "all", "48 of 48 envs", newRun(30).all("obs.policy.normalized", -1, nan)},
		{F9, no, "below 1e3", runaway(newRun(30), 0)},
		{F9, yes, "hardly vary", newRun(30).all("normalizer.var", 0, 1e-9).all("obs.policy.normalized", -1, 3e5).all("policy.mean", -1, nan)},
		{F10, no, "above zero", runaway(newRun(30), 0)},
		{F10, yes, "clamp", newRun(30).all("policy.std", 0, 1e-6).set("log_prob", -1, 0, 0, nan)},
		{F11, no, "finite until then", newRun(32).set("loss.total", -1, 0, 0, nan)},
		{F11, yes, "before anything else", newRun(33).drop("grad_norm").set("param.actor", -1, 0, 2, nan).all("policy.mean", -1, nan)},
		{F15, no, "nothing was changed", runaway(newRun(30), 0).event(dump.Event{Tick: 3, Kind: dump.EventDR, Name: "body_mass", Count: 48})},
		{F15, yes, "dr geom_friction at tick 170", runaway(newRun(30), 0).event(dump.Event{Tick: 170, Kind: dump.EventDR, Name: "geom_friction", Count: 48})},
		{X1, yes, "in 1 of 48 envs, env 7 among them", runaway(newRun(30), 0).event(dump.Event{Tick: 0, Kind: dump.EventDR, Name: "actuator_gainprm", Envs: []int{7}, Count: 1})},
		{X1, no, "is not one of them", runaway(newRun(30), 0).event(dump.Event{Tick: 0, Kind: dump.EventDR, Name: "actuator_gainprm", Envs: []int{3}, Count: 1})},
		{X1, unknown, "not recorded", runaway(newRun(30), 0).event(dump.Event{Tick: 0, Kind: dump.EventDR, Name: "actuator_gainprm", Envs: []int{7}, Count: 48})},
		{X1, unknown, "not recorded", runaway(newRun(30), 0).event(dump.Event{Tick: 0, Kind: dump.EventDR, Name: "geom_solref", Envs: []int{7}, Count: 1})},
		{X3, yes, "the learning rate is 3", newRun(64).all("lr", 0, 3).set("grad_norm", -1, 0, 0, inf)},
		{X3, yes, "the learning rate itself became +Inf", newRun(64).all("lr", -1, inf).set("param.actor", -1, 0, 2, nan)},
		{F11, unknown, "learning rate of the step", newRun(64).all("lr", -1, inf).set("param.actor", -1, 0, 2, nan)},
		{X3, no, "not in the learner", runaway(newRun(32), 0)},
		{X7, no, "usual range", runaway(newRun(30), 0)},
		{X7, yes, "the physics followed", runaway(newRun(30).set("action", -2, 0, -1, 6e4, 6e4).set("ctrl", -8, 0, -1, 6e4, 6e4, 6e4, 6e4, 6e4, 6e4, 6e4, 6e4), 0)},
		{X8, yes, "stands still", runaway(newRun(30).all("ctrl", 40, 0.25), 0)},
		{X8, no, "follow", runaway(newRun(30), 0)},
		{X9, "cuda", "illegal memory", runaway(newRun(30), 0).event(dump.Event{Kind: dump.EventNote, Detail: "RuntimeError: CUDA error: an illegal memory access"})},
		{X12, yes, "exceeded sim.njmax (300)", runaway(newRun(30).all("nefc", 0, 350), 0)},
		{X12, no, "within their limits", runaway(newRun(30), 0)},
	} {
		cs, _ := c.run.judge()
		f := cs.feature(c.id)
		assert.Equal(t, c.want, f.Value, "%s: %s", c.id, f.Text)
		assert.Contains(t, f.Text, c.says, c.id)
	}
}

// TestFeatureStatistics: a feature carries its number, its baseline and its place.
func TestFeatureStatistics(t *testing.T) {
	c, _ := runaway(newRun(30), 0).judge()
	f := c.feature(F2)
	assert.InDelta(t, 4e7, f.Measured, 1)
	assert.InDelta(t, 2.7, f.Baseline, 2)
	assert.Equal(t, "qvel", f.Field)
	assert.Equal(t, 7, f.Env)
	assert.Equal(t, 1, f.Col)
	require.NotNil(t, f.Tick)
}

// TestCoverage: the share of F1 to F15 whose inputs are there, not of those that
// happened to say something.
func TestCoverage(t *testing.T) {
	_, all := newRun(30).judge()
	assert.InDelta(t, 11.0/15, all.Coverage, 1e-3, "F12 to F15 need a graph, a second run, events")
	_, few := runaway(newRun(30).only("qvel", "qacc", "qpos"), 0).judge()
	assert.Less(t, few.Coverage, 0.4)
	assert.Contains(t, strings.Join(few.Warnings, "\n"), "LOW COVERAGE")
	assert.NotContains(t, strings.Join(all.Warnings, "\n"), "LOW COVERAGE")
}

// TestResetCutsGrowth: speeds of the episode before are no precursor.
func TestResetCutsGrowth(t *testing.T) {
	r := newRun(30).set("qvel", -12, 0, 1, 900, 3e4, 8e5, 4e6).set("qacc", -1, 0, 0, nan)
	ticks := r.fields["qvel"].ticks
	r.event(dump.Event{Tick: ticks[len(ticks)-8] - 1, Kind: dump.EventReset, Envs: []int{7}, Count: 1})
	c, _ := r.judge()
	assert.Equal(t, no, c.feature(F2).Value)
	assert.Equal(t, "qacc", c.root().name)
}

// TestSameEnvAgain is X4: one env runs away in every episode.
func TestSameEnvAgain(t *testing.T) {
	r := newRun(30)
	ticks := r.fields["qvel"].ticks
	for _, i := range []int{20, 40, 60, 80} {
		r.set("qvel", i, 1, 0, 2e3, 5e4).event(dump.Event{Tick: ticks[i+2] - 1, Kind: dump.EventReset, Envs: []int{3}, Count: 1})
	}
	r.set("qvel", -3, 1, 0, 2e3, 5e4, nan).set("qacc", -1, 1, 0, nan)
	c, _ := r.judge()
	assert.Equal(t, yes, c.feature(X4).Value)
	assert.Contains(t, c.feature(X4).Text, "env 3 ran away in 5 of its 5 episodes")
}

// TestAfterReset is X5: NaN right after a reset, and NaN in the state before the
// first substep of all.
func TestAfterReset(t *testing.T) {
	r := newRun(30).set("qacc", -2, 1, -1, nan, nan)
	ticks := r.fields["qacc"].ticks
	r.event(dump.Event{Tick: ticks[len(ticks)-2] - 1, Kind: dump.EventReset, Envs: []int{3}, Count: 1})
	c, d := r.judge()
	assert.Equal(t, yes, c.feature(X5).Value)
	assert.Contains(t, []string{d.Causes[0].ID, d.Causes[1].ID}, BadReset)

	vel := [][2]float64{{1, 1}, {2, -1}, {1, 0.5}, {0.5, 0.5}}
	g := guardDump(vel, 6, []int{6}, 1000)
	g.fields[dump.StateField].v[3][0][1] = nan
	c, d = g.judge()
	assert.Equal(t, "written", c.feature(X5).Value)
	assert.Equal(t, BadReset, d.Verdict)
	assert.Equal(t, "qpos left_knee", d.Root.Column)
}

// TestOutsideWrite is X11: a speed that the position did not follow was not
// made by the integrator.
func TestOutsideWrite(t *testing.T) {
	run := func(follow bool) *loopRun {
		var vel [][2]float64
		for i := range 30 {
			vel = append(vel, [2]float64{3 * hash(i, 1), 4 * hash(i, 2)})
		}
		vel = append(vel, [2]float64{2, 5e6})
		r := guardDump(vel, 6, []int{6}, 1000)
		r.model = &mjb.Model{Opt: mjb.Options{Timestep: 0.002}, Joints: []mjb.Joint{
			{Name: "hip", Type: mjb.HingeJoint}, {Name: "left_knee", Type: mjb.HingeJoint, QposAdr: 1, DofAdr: 1},
		}}
		if !follow {
			f := r.fields[dump.StateField].v
			f[30][0][1] = f[29][0][1] + 0.001
		}
		return r
	}
	c, d := run(true).judge()
	assert.Equal(t, no, c.feature(X11).Value, c.feature(X11).Text)
	assert.Equal(t, ContactDivergence, d.Causes[0].ID)
	c, d = run(false).judge()
	assert.Equal(t, "velocity", c.feature(X11).Value, c.feature(X11).Text)
	assert.Contains(t, c.feature(X11).Text, "qvel left_knee of env 6 was written from outside the physics: at 5e6 rad/s")
	assert.Equal(t, UnknownCause, d.Verdict)

	r := run(false) // a reset that writes pose and speeds, of every joint
	frames := r.fields[dump.StateField].v
	q := frames[29][0]
	frames[30][0] = []float64{q[0] + 0.3, q[1] - 0.4, -3e6, 5e6}
	c, d = r.judge()
	assert.Equal(t, "state", c.feature(X11).Value, c.feature(X11).Text)
	assert.Equal(t, BadReset, d.Causes[0].ID)
}

// TestModelAudit is X6 and row 4.
func TestModelAudit(t *testing.T) {
	model := func(kp, dt float64) *mjb.Model {
		return &mjb.Model{
			Opt:    mjb.Options{Timestep: dt, Integrator: 3},
			Bodies: []mjb.Body{{}, {Name: "shin", Mass: 2, Inertia: [3]float64{.1, .1, .1}}},
			Joints: []mjb.Joint{{Name: "knee", Type: mjb.HingeJoint, Body: 1}}, DofInvW0: []float64{25},
			Actuators: []mjb.Actuator{{Name: "knee_servo", Gear: 1, GainPrm0: kp, BiasPrm: [3]float64{0, -kp, -1}}},
		}
	}
	for _, c := range []struct {
		kp, dt float64
		want   string
		row    Status
	}{
		{35, 0.002, no, Cleared},           // w dt = 0.06
		{3600, 0.005, "shaky", Implicated}, // 1.5, and it ran away
		{3600, 0.01, "unstable", Implicated},
	} {
		r := runaway(newRun(30), 0)
		r.model = model(c.kp, c.dt)
		delete(r.man.Facts, "sim.timestep")
		cs, d := r.judge()
		assert.Equal(t, c.want, cs.feature(X6).Value, cs.feature(X6).Text)
		assert.InDelta(t, c.dt*math.Sqrt(c.kp*25), cs.feature(X6).Measured, 1e-9)
		assert.Equal(t, c.row, d.Checklist[3].Status, d.Checklist[3].Evidence)
	}
	r := runaway(newRun(30), 0)
	r.model = model(35, 0.002)
	r.model.DofDamping = []float64{-0.3}
	cs, d := r.judge()
	assert.Equal(t, "impossible", cs.feature(X6).Value)
	assert.Contains(t, cs.feature(X6).Text, "a damping of -0.3")
	assert.Contains(t, []string{d.Causes[0].ID, d.Causes[1].ID}, BadModel)
}

// TestGraphAddresses: what stale means. Addresses may be numbers or text; the
// last capture counts; a graph that never ran is harmless.
func TestGraphAddresses(t *testing.T) {
	capture := func(tick int64, addr any) dump.Event {
		return dump.Event{Tick: tick, Kind: dump.EventGraphCapture, Detail: map[string]any{"graph": "step", "reads": map[string]any{"ctrl": addr}}}
	}
	for _, c := range []struct {
		name    string
		events  []dump.Event
		now     any
		replays any
		want    string
	}{
		{"same", []dump.Event{capture(1, 64.0)}, 64.0, 10.0, no},
		{"moved", []dump.Event{capture(1, 64.0)}, 128.0, 10.0, yes},
		{"as text", []dump.Event{capture(1, "0x40")}, "0x80", 10.0, yes},
		{"captured again", []dump.Event{capture(1, 64.0), capture(9, 128.0)}, 128.0, 10.0, no},
		{"never replayed", []dump.Event{capture(1, 64.0)}, 128.0, 0.0, no},
		{"address unknown", []dump.Event{capture(1, 64.0)}, nil, 10.0, unknown},
		{"moved by event", []dump.Event{capture(1, 64.0), {Tick: 5, Kind: dump.EventBufferMoved, Detail: map[string]any{"field": "ctrl", "from": 64.0, "to": 256.0}}}, nil, 10.0, yes},
		{"no graph", nil, 128.0, 10.0, unknown},
	} {
		r := newRun(20)
		for _, e := range c.events {
			r.event(e)
		}
		if c.now != nil {
			r.man.Facts["address.ctrl"] = c.now
		}
		r.man.Facts["graph.step.replays"] = c.replays
		cs, _ := r.judge()
		assert.Equal(t, c.want, cs.feature(F12).Value, "%s: %s", c.name, cs.feature(F12).Text)
	}
}

// TestSensorsAndFormulas is X10: which of the two an observation's column is.
func TestSensorsAndFormulas(t *testing.T) {
	run := func(v float64, cols ...int) *loopRun {
		r := newRun(30)
		names := []string{"height_scan[0]", "joint_vel[0]", "joint_vel[1]", "tilt", "gravity[0]"}
		r.fields["obs.policy"].spec.Cols = names
		for _, col := range cols {
			r.set("obs.policy", -1, 1, col, v)
		}
		return r
	}
	for _, c := range []struct {
		run   *loopRun
		value string
		first string
	}{
		{run(inf, 0), "sensor", BadSensor},
		{run(inf, 3), "sensor", BadSensor}, // infinite, as a missed ray is
		{run(nan, 3), "term", MathDomain},
		{run(nan, 1, 3, 4), "state", ""},
	} {
		cs, d := c.run.judge()
		assert.Equal(t, c.value, cs.feature(X10).Value, cs.feature(X10).Text)
		if c.first != "" {
			assert.Equal(t, c.first, d.Causes[0].ID)
		}
	}
}

// TestPosture: what else is wrong with the last state, in words: a quaternion
// that is none, a joint past its limit, a free fall.
func TestPosture(t *testing.T) {
	model := &mjb.Model{Opt: mjb.Options{Timestep: 0.002}, Joints: []mjb.Joint{
		{Name: "hip", Type: mjb.HingeJoint, Limited: true, Range: [2]float64{-1, 1}},
		{Name: "left_knee", Type: mjb.HingeJoint, QposAdr: 1, DofAdr: 1, Limited: true, Range: [2]float64{-0.5, 0.5}},
	}}
	var vel [][2]float64
	for i := range 40 {
		vel = append(vel, [2]float64{0.1 * hash(i), -0.002 * 9.81 * float64(i+100)})
	}
	r := guardDump(vel, 6, []int{6}, 1000)
	r.model = model
	for i := range r.fields[dump.StateField].v {
		r.fields[dump.StateField].v[i][0][1] = 1.3
	}
	c, _ := r.judge()
	text := c.feature(F2).Text
	assert.Contains(t, text, "qvel left_knee is in free fall (-9.81 m/s²)")
	assert.Contains(t, text, "joint left_knee was 0.8 past its limit")

	q := newRun(30)
	q.model = &mjb.Model{Joints: []mjb.Joint{{Name: "ball", Type: mjb.BallJoint}}}
	for _, frame := range q.fields["qpos"].v {
		for row := range frame {
			frame[row] = []float64{0.5, 0, 0, 0}
		}
	}
	c, _ = runaway(q, 0).judge()
	assert.Contains(t, c.feature(F2).Text, "the quaternion of ball had a norm of 0.5")
}
