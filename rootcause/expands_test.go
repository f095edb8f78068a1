package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// batchOn adds a batch of 32 samples to each record of the losses.
func (r *loopRun) batchOn(name string, stage dump.Stage, value func(i, col int) float64) *loopRun {
	return r.add(name, stage, make([]string, 32), value)
}

// critic is a run with a critic whose targets are the reward plus a discount times the
// value of what comes next, which grows with a rate.
func critic(discount func(i, col int) float64, rate float64) *loopRun {
	next := func(i, col int) float64 { return (3 + hash(i, col)) * (1 + rate*float64(i)) }
	paid := func(i, col int) float64 { return 1 + 0.3*hash(i, col, 3) }
	over := func(i, col int) float64 {
		if (i+3*col)%11 == 0 {
			return 1
		}
		return 0
	}
	return newRun(400).batchOn("reward.batch", dump.StageReward, paid).batchOn("done.batch", dump.StageDone, over).
		batchOn("value.next", dump.StageValue, next).
		batchOn("q.target", dump.StageValue, func(i, col int) float64 {
			return paid(i, col) + discount(i, col)*(1-over(i, col))*next(i, col)
		})
}

// TestExpanding is X25 for targets that discount by more than one.
func TestExpanding(t *testing.T) {
	always := func(g float64) func(i, col int) float64 { return func(int, int) float64 { return g } }
	c, d := critic(always(1.03), 0.1).judge()
	assert.Equal(t, ascends, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, LearnerExplosion, d.Verdict)
	for name, r := range map[string]*loopRun{
		"below one":                       critic(always(0.99), 0.1),
		"an average reward":               critic(always(1), 0.1),
		"values on another scale":         critic(always(1.6), 0.1),
		"the return of several steps":     critic(func(i, col int) float64 { return 1.03 + 0.1*hash(i, col, 5) }, 0.1),
		"values that stay where they are": critic(always(1.03), 0),
	} {
		c, d := r.judge()
		assert.NotEqual(t, ascends, c.feature(X25).Value, name)
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// adam is a run of 20 updates of six minibatches, whose weights move in update i by
// stride(i) times what the learning rate allows, and whose KL is kl(i).
func adam(stride, kl func(i int) float64) *loopRun {
	r := newRun(60)
	rate, weights, off := &loopField{}, &loopField{}, &loopField{}
	rate.spec = dump.FieldSpec{Name: "lr", Stage: dump.StageLoss, Clock: dump.ClockMinibatch, Order: 82, DType: "float32"}
	off.spec = dump.FieldSpec{Name: "kl", Stage: dump.StageMonitor, Clock: dump.ClockMinibatch, Order: 84, DType: "float32"}
	weights.spec = dump.FieldSpec{Name: "param.actor", Stage: dump.StageParam, Clock: dump.ClockUpdate, Order: 83, DType: "float32"}
	w := make([]float64, 16)
	for i := range 20 {
		for m := range 6 {
			tick := int64(16*i + m)
			rate.ticks, rate.counts, rate.v = append(rate.ticks, tick), append(rate.counts, int64(6*i+m+1)), append(rate.v, [][]float64{{1e-3}})
			off.ticks, off.counts, off.v = append(off.ticks, tick), append(off.counts, int64(6*i+m+1)), append(off.v, [][]float64{{kl(i)}})
		}
		for col := range w {
			w[col] += 6e-3 * stride(i) * (1 + 0.2*hash(i, col)) * float64(1-2*((i+col)%2))
		}
		weights.ticks, weights.counts = append(weights.ticks, int64(16*i+6)), append(weights.counts, int64(i+1))
		weights.v = append(weights.v, [][]float64{append([]float64{}, w...)})
	}
	r.drop("lr", "param.actor", "grad_norm")
	for _, f := range []*loopField{rate, weights, off} {
		r.fields[f.spec.Name], r.man.Fields = f, append(r.man.Fields, f.spec)
	}
	return r
}

// TestOverstepped is X25 for weights that move further than the learning rate allows.
func TestOverstepped(t *testing.T) {
	from := func(at, until int, usual, then float64) func(i int) float64 {
		return func(i int) float64 {
			if i >= at && i < until {
				return then
			}
			return usual
		}
	}
	c, d := adam(from(8, 20, 0.3, 40), from(8, 20, 1e-3, 9)).event(dump.Event{Tick: 128, Kind: dump.EventCheckpointLoaded, Name: "model_8.pt"}).judge()
	assert.Equal(t, ascends, c.feature(X25).Value, c.feature(X25).Text)
	assert.Contains(t, c.feature(X25).Text, "model_8.pt")
	assert.Equal(t, LearnerExplosion, d.Verdict)
	for name, r := range map[string]*loopRun{
		"weights that were loaded":         adam(from(8, 9, 0.3, 40), from(8, 9, 1e-3, 9)),
		"a step of a new optimizer":        adam(from(8, 20, 0.3, 1), from(8, 20, 1e-3, 0.2)),
		"steps of another kind all along":  adam(from(8, 20, 12, 40), from(8, 20, 1e-3, 9)),
		"a policy that stays near the old": adam(from(8, 20, 0.3, 40), from(8, 20, 1e-3, 0.02)),
		"too early to tell":                adam(from(3, 20, 0.3, 40), from(3, 20, 1e-3, 9)),
	} {
		c, d := r.judge()
		assert.NotEqual(t, ascends, c.feature(X25).Value, name)
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
