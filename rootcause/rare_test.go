package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
)

// add puts a field of the whole run on the minibatch clock into a run, with one
// value per gradient step that f gives.
func (r *loopRun) add(name string, stage dump.Stage, cols []string, f func(i, col int) float64) *loopRun {
	like := r.fields["loss.total"]
	spec := dump.FieldSpec{Name: name, Stage: stage, Clock: dump.ClockMinibatch, Order: 84, DType: "float32", Cols: cols}
	g := &loopField{spec: spec, ticks: like.ticks, counts: like.counts}
	for i := range like.v {
		row := make([]float64, max(1, len(cols)))
		for col := range row {
			row[col] = f(i, col)
		}
		g.v = append(g.v, [][]float64{row})
	}
	r.fields[name] = g
	r.man.Fields = append(r.man.Fields, spec)
	return r
}

// sac is a healthy soft actor-critic in bfloat16 whose entropy is off its target
// by gap nats, and whose alpha moves by rate a step.
func sac(gap, rate float64, amp bool) *loopRun {
	r := newRun(500)
	r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"] = amp, "bfloat16"
	r.man.Facts["policy.target_entropy"] = -14.2
	return r.add("alpha", dump.StageParam, nil, func(i, _ int) float64 { return math.Exp(-6.90625) * (1 + rate*float64(i)) }).
		add("loss.alpha", dump.StageLoss, nil, func(i, _ int) float64 { return 0.1 * hash(i, 7) }).
		add("entropy", dump.StageMonitor, nil, func(i, _ int) float64 { return -14.2 + gap + 0.2*hash(i) })
}

// seeing is a run whose normalizer has seen from observations and sees by more in each
// env step.
func seeing(from, by float64) *loopRun {
	r := newRun(60)
	like := r.fields["obs.policy"]
	spec := dump.FieldSpec{Name: "normalizer.count", Stage: dump.StageNormalizer, Clock: dump.ClockStep, Order: 47, DType: "float32"}
	f := &loopField{spec: spec, ticks: like.ticks, counts: like.counts}
	for i := range like.counts {
		f.v = append(f.v, [][]float64{{from + by*float64(i+1)}})
	}
	r.fields[spec.Name], r.man.Fields = f, append(r.man.Fields, spec)
	return r
}

// ranked is a healthy run that says how many ranks it has.
func ranked(world int) *loopRun {
	r := newRun(60)
	r.man.Run.WorldSize = world
	return r
}

// digests is a run of two ranks with a checksum of the weights of each, which the
// loop records as a monitor.
func digests(f func(i, col int) float64) *loopRun {
	return ranked(2).add("param.checksum_by_rank", dump.StageMonitor, []string{"rank0", "rank1"}, f)
}

// TestRareCauses: each has a run that shows it, and a look-alike that does not.
func TestRareCauses(t *testing.T) {
	nan := math.NaN()
	iteration := func(r *loopRun, n float64) *loopRun { r.man.Facts["iteration"] = n; return r }
	for _, c := range []struct {
		name, want string // want "" for a clean run
		run        *loopRun
	}{
		{"alpha frozen in bfloat16, entropy off", PrecisionLoss, sac(-3, 0, true)},
		{"alpha moves in bfloat16", "", sac(-3, 1e-4, true)},
		{"alpha fixed in float32", "", sac(-3, 0, false)},
		{"alpha frozen, entropy on its target", "", sac(0, 0, true)},

		{"the normalizer's count fell", NormalizerLost, newRun(500).add("normalizer.count", dump.StageNormalizer, nil, func(i, _ int) float64 { return float64(1e6 + 4096*i - 9e5*(i/60)) })},
		{"the normalizer's count grows", "", newRun(500).add("normalizer.count", dump.StageNormalizer, nil, func(i, _ int) float64 { return float64(1e6 + 4096*i) })},
		{"as new in iteration 9000", NormalizerLost, iteration(seeing(0, 48), 9000)},
		{"as new in iteration 0", "", seeing(0, 48)},
		{"a count of updates", "", iteration(seeing(8000, 1), 9000)},
		{"a normalizer that is off", "", iteration(newRun(60).all("normalizer.mean", 0, 0).all("normalizer.var", 0, 1), 900)},
		{"z jumped at the checkpoint", NormalizerLost, newRun(60).all("obs.policy.normalized", 30, 80).event(dump.Event{Tick: 178, Kind: dump.EventCheckpointLoaded, Name: "model_900.pt"})},
		{"z jumped with the raw observation", "", newRun(60).all("obs.policy", 29, 90).all("obs.policy.normalized", 30, 80).event(dump.Event{Tick: 178, Kind: dump.EventCheckpointLoaded, Name: "model_900.pt"})},

		{"weights differ between ranks", RankDesync, ranked(2).add("param.sum", dump.StageParam, []string{"rank 0", "rank 1"}, func(i, col int) float64 { return 3 + 0.1*float64(i*col) })},
		{"weights agree between ranks", "", ranked(2).add("param.sum", dump.StageParam, []string{"rank 0", "rank 1"}, func(i, _ int) float64 { return 3 + 0.1*float64(i) })},
		{"a checksum of another stage parts", RankDesync, digests(func(i, col int) float64 { return 3 + 1e-4*float64(max(0, i-9)*col) })},
		{"checksums that agree", "", digests(func(i, _ int) float64 { return 3 + 0.1*float64(i) })},
		{"checksums of shards", "", digests(func(i, col int) float64 { return 3 + 0.1*float64(i*col) + float64(col) })},
		{"one rank's gradient is NaN", RankDesync, ranked(2).add("grad_norm.by_rank", dump.StageGrad, []string{"rank 0", "rank 1"}, func(i, col int) float64 {
			if i == 9 && col == 1 {
				return nan
			}
			return 0.8
		})},

		{"gradient alone", AutodiffSingular, newRun(60).set("grad_norm", -1, 0, 0, nan)},
		{"gradient and loss", LearnerExplosion, newRun(60).set("loss.total", -3, 0, 0, 9e7, 4e12, nan).set("grad_norm", -1, 0, 0, nan)},

		{"NaN reward over zeroed observations", Masked, newRun(60).set("obs.policy", -4, 2, -1, 0, 0, 0, 0).set("reward", -1, 2, 0, nan)},
		{"kernel missing", Backend, newRun(40).event(dump.Event{Tick: 200, Kind: dump.EventNote, Detail: "RuntimeError: CUDA error: no kernel image is available for execution on the device"})},
	} {
		_, d := c.run.judge()
		if c.want == "" {
			assert.Equal(t, Clean, d.Verdict, c.name)
			continue
		}
		require.NotEmpty(t, d.Causes, c.name)
		assert.Equal(t, c.want, d.Causes[0].ID, c.name)
	}
}

// TestRanksOnly: where the ranks differ and nothing else is wrong, that no gradient
// went bad says nothing.
func TestRanksOnly(t *testing.T) {
	c, d := digests(func(i, col int) float64 { return 3 + 1e-4*float64(max(0, i-9)*col) }).judge()
	assert.Equal(t, RankDesync, d.Verdict)
	assert.Equal(t, unknown, c.feature(X3).Value, c.feature(X3).Text)
	assert.Equal(t, unknown, c.feature(X22).Value, c.feature(X22).Text)
	assert.Contains(t, d.Causes[0].Fix, "Average the gradients")
	c, _ = ranked(2).set("loss.total", -1, 0, 0, nan).judge()
	assert.NotEqual(t, unknown, c.feature(X3).Value, "something did go bad")
}

// TestDoneRows is X18: filler in done rows, against physics that ended episodes.
func TestDoneRows(t *testing.T) {
	bad := func() *loopRun {
		r := newRun(60)
		for _, row := range []int{1, 3} {
			r.set("obs.policy", -1, row, -1, math.NaN()).set("done", -1, row, 0, 1)
		}
		return r
	}
	c, d := bad().judge()
	assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Verdict)

	c, _ = bad().set("done", -1, 0, 0, 1).judge()
	assert.Equal(t, no, c.feature(X18).Value, "an episode ended and its row is fine")

	r := bad()
	for _, row := range []int{1, 3} {
		r.set("qvel", -2, row, 2, math.NaN(), math.NaN())
	}
	c, d = r.judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "the physics of these rows is bad itself")
	assert.NotEqual(t, PaddingRows, d.Causes[0].ID)
}

// TestLargestFinite: what nan_to_num makes of an infinity is seen, and what the
// infinity came from is blamed with it.
func TestLargestFinite(t *testing.T) {
	c, d := newRun(60).set("obs.policy", 40, 2, 1, math.MaxFloat32).judge()
	assert.Equal(t, "shown", c.feature(X17).Value)
	assert.Contains(t, c.feature(X17).Text, "3.4e38")
	assert.ElementsMatch(t, []string{BadSensor, Masked}, []string{d.Causes[0].ID, d.Causes[1].ID})
}

// TestRankFacts: what a run says of its ranks.
func TestRankFacts(t *testing.T) {
	for _, c := range []struct {
		facts map[string]any
		want  string
	}{
		{map[string]any{"ranks.grad_norm.0": 0.8, "ranks.grad_norm.1": 0.9, "ranks.grad_norm.2": 7e6}, yes},
		{map[string]any{"rank.0.loss": 0.8, "rank.1.loss": math.NaN()}, yes},
		{map[string]any{"grad_norm.rank0": 0.8, "grad_norm.rank1": 0.9}, unknown},
		{map[string]any{"ranks.grad_all_reduce": false}, yes},
		{map[string]any{"ranks.grad_all_reduce": true}, unknown},
	} {
		r := ranked(3)
		for k, v := range c.facts {
			r.man.Facts[k] = v
		}
		cs, _ := r.judge()
		f := cs.feature(X20)
		assert.Equal(t, c.want, f.Value, "%v: %s", c.facts, f.Text)
	}
}
