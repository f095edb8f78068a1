package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// note returns a run with a note.
func note(text string) *loopRun {
	return newRun(40).event(dump.Event{Tick: 200, Kind: dump.EventNote, Detail: text})
}

// with adds a field of three columns of every env on the clock of the observations.
func (r *loopRun) with(name string, stage dump.Stage, value func(i, row, col int) float64) *loopRun {
	return r.withCols(3, name, stage, value)
}

// withCols is with for a field of so many columns.
func (r *loopRun) withCols(cols int, name string, stage dump.Stage, value func(i, row, col int) float64) *loopRun {
	like := r.fields["obs.policy"]
	spec := dump.FieldSpec{Name: name, Stage: stage, Clock: dump.ClockStep, Order: 60, DType: "float32", PerEnv: true}
	f := &loopField{spec: spec, ticks: like.ticks, counts: like.counts}
	for i := range like.counts {
		rows := make([][]float64, len(r.man.EnvIDs))
		for row := range rows {
			for col := range cols {
				rows[row] = append(rows[row], value(i, row, col))
			}
		}
		f.v = append(f.v, rows)
	}
	r.fields[name], r.man.Fields = f, append(r.man.Fields, spec)
	return r
}

// now and then returns a number in about a third of all places, and others elsewhere.
func sometimes(v float64) func(i, row, col int) float64 {
	return func(i, row, col int) float64 {
		if (7*i+3*row+5*col)%3 == 0 {
			return v
		}
		return 1 + hash(i, row, col)
	}
}

// TestHealthyNumbers: what is large by nature, stands for nothing, or counts.
func TestHealthyNumbers(t *testing.T) {
	rising := func(from, by float64) func(i, _ int) float64 {
		return func(i, _ int) float64 { return from + by*float64(i) }
	}
	for name, r := range map[string]*loopRun{
		"actions that are not allowed":          newRun(60).with("policy.logits", dump.StagePolicy, sometimes(-1e8)),
		"the same by the smallest number":       newRun(60).with("policy.logits", dump.StagePolicy, sometimes(-math.MaxFloat32)),
		"rays that hit nothing":                 newRun(60).with("sensor.lidar", dump.StageSensor, sometimes(1e12)),
		"the same by the largest number":        newRun(60).with("sensor.lidar", dump.StageSensor, sometimes(math.MaxFloat32)),
		"nothing near":                          newRun(60).with("contact.dist", dump.StageSolver, sometimes(math.MaxFloat32)),
		"coordinates of a map":                  newRun(60).with("gps_pos", dump.StagePhysics, func(i, row, _ int) float64 { return 4.1e9 + float64(i+row) }),
		"forces of a heavy machine":             newRun(60).drop("ctrl").with("ctrl", dump.StagePolicy, func(i, row, col int) float64 { return 1e6 * (hash(i, row, col) - 0.5) }),
		"a count of samples":                    newRun(200).add("param.seen", dump.StageParam, nil, rising(0, 4096)),
		"a number that was large all the time":  newRun(200).add("param.penalty", dump.StageParam, nil, rising(2e4, 100.5)),
		"a termination that drops a banana":     newRun(60).with("termination.banana", dump.StageDone, func(i, _, _ int) float64 { return float64(i / 30) }),
		"weights of a layer that makes the std": newRun(60).add("param.std_head.weight", dump.StageParam, []string{"a", "b"}, func(i, col int) float64 { return 0.1*float64(2*col-1) + 1e-4*hash(i, col) }),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"logits of one env":       newRun(60).with("policy.logits", dump.StagePolicy, func(i, row, col int) float64 { return -1e8 * float64(max(0, i-50)*row/4) }),
		"controls that run away":  newRun(60).drop("ctrl").with("ctrl", dump.StagePolicy, func(i, row, _ int) float64 { return math.Pow(10, float64(i*row/24)) }),
		"a lidar that runs away":  newRun(60).with("sensor.lidar", dump.StageSensor, func(i, row, _ int) float64 { return math.Pow(10, float64(i*row/12)) }),
		"one that is replaced":    newRun(60).with("sensor.lidar", dump.StageSensor, func(i, row, _ int) float64 { return 1 + float64(i/50*row/4)*1e12 }),
		"a weight that runs away": newRun(200).add("param.gain", dump.StageParam, nil, func(i, _ int) float64 { return math.Exp(0.3 * float64(i)) }),
	} {
		_, d := r.judge()
		assert.NotEqual(t, Clean, d.Verdict, name)
	}
}

// TestHealthyWords: what a run says of itself that only sounds like a failure.
func TestHealthyWords(t *testing.T) {
	for _, text := range []string{
		"termination illegal_contact 0.3, time_out 0.7", "domain randomization level 3, mean tracking_error 0.12", "0 non-finite gradients so far",
		"curriculum: velocity_error below 0.2 over the domain; level up", "heading_error 0.1 height 0.3", "gradient norm clipped at 1.0, position_error 0.02",
		"KeyError: 'domain_rand'", "RuntimeError: Error(s) in loading state_dict for ActorCritic: size mismatch for actor.0.weight",
		"FileNotFoundError: heightfield.png", "TypeError: init() got an unexpected keyword 'scale', must be positive int",
		"AttributeError: 'NoneType' object has no attribute 'weight'", "AssertionError: illegal_contact sensor not found in scene",
		"RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation",
	} {
		_, d := note(text).judge()
		assert.Equal(t, Clean, d.Verdict, text)
	}
	for _, text := range []string{
		"ValueError: Expected parameter loc of distribution Normal to satisfy the constraint Real()", "FatalError: FactorizeHessian: rank-deficient sparse Hessian",
		"_LinAlgError: linalg.svd: the algorithm failed to converge", "ValueError: math domain error", "RuntimeError: CUDA error: an illegal memory access was encountered",
		"reward contains NaN values", "found non-finite gradients", "FloatingPointError: overflow encountered in exp",
	} {
		_, d := note(text).judge()
		assert.NotEqual(t, Clean, d.Verdict, text)
	}
}

// TestHealthyRanks: what differs between ranks that are in step.
func TestHealthyRanks(t *testing.T) {
	said := func(name string, v any) *loopRun {
		r := ranked(4)
		r.man.Facts[name] = v
		return r
	}
	near := func(i, col int) float64 { // two losses before the first step of an update
		if i%4 == 0 {
			return 3e-9 * math.Pow(1e-5, float64(col))
		}
		return 0.01 + 0.001*hash(i, col)
	}
	two := ranked(2)
	for name, r := range map[string]*loopRun{
		"a setting of the library": said("ranks.find_unused_parameters", false),
		"who is the first":         said("ranks.is_main", false),
		"normalizers of their own": said("ranks.share_normalizer", false),
		"one writes the video":     said("rank.0.video_s", 31.0),
		"near zero":                two.add("kl_by_rank", dump.StageMonitor, []string{"rank0", "rank1"}, near),
		"shards":                   ranked(2).add("param.shard_norm_by_rank", dump.StageParam, []string{"rank0", "rank1"}, func(i, col int) float64 { return 9 + hash(i, col) }),
		"NaN in both": ranked(2).add("monitor.param_norm_by_rank", dump.StageMonitor, []string{"rank0", "rank1"}, func(i, _ int) float64 {
			return math.NaN()
		}),
	} {
		c, _ := r.judge()
		assert.NotEqual(t, yes, c.feature(X20).Value, "%s: %s", name, c.feature(X20).Text)
	}
	for _, name := range []string{"ranks.grad_all_reduce", "ranks.broadcast_at_start", "ranks.params_equal"} {
		c, _ := said(name, false).judge()
		assert.Equal(t, yes, c.feature(X20).Value, name)
	}
}

// TestHealthyStillness: networks that are not trained, buffers that change places,
// actuators at their limits, counts of all worlds.
func TestHealthyStillness(t *testing.T) {
	fixed := func(grad, name string) *loopRun {
		r := newRun(300).drop("param.actor").drop("param.std").add(name, dump.StageParam, []string{"a", "b", "c"}, func(_, col int) float64 { return 0.1 + 0.1*float64(col) })
		if grad != "grad_norm" {
			r.drop("grad_norm").add(grad, dump.StageGrad, nil, func(i, _ int) float64 { return 1 + hash(i) })
		}
		return r
	}
	swapping := newRun(40)
	for i, g := range []string{"a", "b"} {
		swapping.event(dump.Event{Tick: int64(i), Kind: dump.EventGraphCapture, Name: g, Detail: map[string]any{"graph": g, "reads": map[string]any{"ctrl": "0x" + g}}})
	}
	swapping.man.Facts["address.ctrl"] = "0xb"
	limit := newRun(80).hold("ctrl", 0, own).resetAt(40)
	for _, frame := range limit.fields["action"].v {
		for row := range frame {
			for col := range frame[row] {
				frame[row][col] = 9 + 0.1*frame[row][col]
			}
		}
	}
	worlds := newRun(60).with("ncon", dump.StageSolver, func(i, _, _ int) float64 { return float64(500 + i) })
	worlds.man.Facts["sim.nconmax"] = 35.0
	for name, r := range map[string]*loopRun{
		"a backbone":              fixed("grad_norm", "param.backbone.0"),
		"a teacher":               fixed("grad_norm", "param.teacher.0"),
		"an actor, critic warms":  fixed("grad.critic_norm", "param.actor.0"),
		"two buffers":             swapping,
		"actuators at the limit":  limit,
		"contacts of all worlds":  worlds,
		"gradients are gathered":  newRun(200).all("param.actor", 0, 0.3).all("param.std", 0, 0.8),
		"autocast, a dead neuron": deadNeurons(),
		"addresses in two ways":   addressed("0x7F0000AB0100", float64(0x7f0000ab0100)),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
	_, d := fixed("grad_norm", "param.actor.0").judge()
	assert.NotEqual(t, Clean, d.Verdict, "an actor that gradients reach")
	_, d = addressed("0x100", "0x200").judge()
	assert.Equal(t, StaleGraph, d.Verdict)
}

// addressed is a run whose graph reads ctrl at one address, and that has it at another.
func addressed(reads, now any) *loopRun {
	r := newRun(40).event(dump.Event{Kind: dump.EventGraphCapture, Name: "g", Detail: map[string]any{"graph": "g", "reads": map[string]any{"ctrl": reads}}})
	r.man.Facts["address.ctrl"] = now
	return r
}

// deadNeurons is a run of autocast in which most recorded weights have no gradient; in
// single precision, as autocast keeps them.
func deadNeurons() *loopRun {
	r := newRun(200).add("param.hidden", dump.StageParam, []string{"a", "b", "c", "d", "e", "f"}, func(i, col int) float64 {
		if col > 1 {
			return 0.1234567 * float64(col)
		}
		return 0.3 + 1e-4*hash(i, col)
	})
	r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"] = true, "bfloat16"
	return r
}

// TestHalfPrecisionLookAlikes: what stands still in a run of low precision by itself.
func TestHalfPrecisionLookAlikes(t *testing.T) {
	copied := newRun(200)
	weight := func(i, col int) float64 { return 0.1234567*float64(col+1) + 1e-6*float64(i) }
	copied.add("param.hidden", dump.StageParam, []string{"a", "b", "c", "d"}, weight).
		add("param.inference", dump.StageParam, []string{"a", "b", "c", "d"}, func(_, col int) float64 {
			return float64(math.Float32frombits(math.Float32bits(float32(weight(0, col))) &^ 0xffff))
		})
	alpha := func(v float64, learned bool) *loopRun {
		r := newRun(500).add("alpha", dump.StageParam, nil, func(int, int) float64 { return v }).
			add("entropy", dump.StageMonitor, nil, func(i, _ int) float64 { return -17 + 0.2*hash(i) })
		r.man.Facts["policy.target_entropy"] = -14.2
		if learned {
			r.add("loss.alpha", dump.StageLoss, nil, func(i, _ int) float64 { return 0.1 * hash(i, 7) })
		}
		return r
	}
	for name, r := range map[string]*loopRun{
		"a copy for inference":                  copied,
		"a temperature that is fixed":           alpha(math.Exp(-6.90625), false),
		"one with more digits than it has":      alpha(0.2, true),
		"one at a bound of its logarithm":       alpha(math.Exp(-10), true),
		"weights without gradients in autocast": deadNeurons(),
	} {
		r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"] = true, "bfloat16"
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X21).Text)
	}
}

// TestComesToRest is X25 and X8 for what slows down and then sleeps, and for what dies
// in the middle of its motion.
func TestComesToRest(t *testing.T) {
	pose := func(slows bool) *loopRun {
		return newRun(90).with("sensor.object", dump.StageSensor, func(i, row, col int) float64 {
			if row != 2 {
				return hash(i, row, col)
			}
			if !slows {
				return hash(min(i, 40), row, col)
			}
			return 0.3*float64(col+1) + hash(row, col) + 0.5*math.Pow(0.7, float64(min(i, 40)))
		})
	}
	c, d := pose(true).judge()
	assert.Equal(t, Clean, d.Verdict, c.feature(X25).Text)
	c, _ = pose(false).judge()
	assert.Equal(t, spikes, c.feature(X25).Value, c.feature(X25).Text)
}

// TestBeginsAnew: a normalizer that a curriculum empties on purpose, a rollback and a
// window that breathes have lost nothing.
func TestBeginsAnew(t *testing.T) {
	falls := func(to float64) *loopRun {
		r := seeing(1e5, 48)
		f := r.fields["normalizer.count"]
		for i := 30; i < len(f.v); i++ {
			f.v[i][0][0] = to + 48*float64(i-30)
		}
		return r
	}
	tick := falls(0).fields["normalizer.count"].ticks[30]
	stage := dump.Event{Tick: tick, Kind: dump.EventCurriculum, Name: "stage 2", Detail: "normalizer reset"}
	_, d := falls(0).judge()
	assert.Equal(t, NormalizerLost, d.Verdict)
	for name, r := range map[string]*loopRun{
		"on purpose": falls(0).event(stage),
		"a rollback": falls(8e4),
		"a window":   falls(0.99e5),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X19).Text)
	}
}

// TestNotComputedAnyMore: a critic's observation stands still in an evaluation, a
// policy's does not.
func TestNotComputedAnyMore(t *testing.T) {
	still := func(name string) *loopRun {
		return newRun(90).with(name, dump.StageObs, func(i, row, col int) float64 { return hash(min(i, 50), row, col) + 2 })
	}
	c, d := still("obs.critic").judge()
	assert.Equal(t, Clean, d.Verdict, c.feature(X8).Text)
	c, d = still("obs.other").drop("obs.policy").judge()
	assert.NotEqual(t, Clean, d.Verdict, c.feature(X8).Text)
}
