package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestWiped is X19 for a variance whose columns all became one number.
func TestWiped(t *testing.T) {
	for name, edit := range map[string]func(mean, vari []float64){
		"zero": each(func(float64) float64 { return 0 }),
		"one":  each(func(float64) float64 { return 1 }),
	} {
		c, d := statistics(from(edit)).all("policy.mean", -1, nan).judge()
		assert.Equal(t, yes, c.feature(X19).Value, "%s: %s", name, c.feature(X19).Text)
		assert.Contains(t, c.feature(X19).Text, "all 8 columns", name)
		assert.Equal(t, NormalizerLost, d.Verdict, name)
	}
	for name, edit := range map[string]func(mean, vari []float64, i int){
		"all but one":    from(func(_, vari []float64) { each(func(float64) float64 { return 0 })(nil, vari); vari[3] = 1 }),
		"from the start": func(_, vari []float64, _ int) { each(func(float64) float64 { return 0 })(nil, vari) },
		"two values only": func(_, vari []float64, i int) {
			for col := range vari {
				if vari[col] = 1; i < 40 && col == 2 {
					vari[col] = 3
				}
			}
		},
	} {
		c, _ := statistics(edit).judge()
		assert.NotEqual(t, yes, c.feature(X19).Value, "%s: %s", name, c.feature(X19).Text)
	}
}

// TestLeftOut is X19 for a load that says what it did not find, right before the
// policy went bad.
func TestLeftOut(t *testing.T) {
	run := func(step int, key string, fail bool) *Case {
		r := newRun(30).drop("normalizer.mean", "normalizer.var", "obs.policy.normalized")
		r.fields["action"].spec.Cols = nil
		ticks := r.fields["policy.mean"].ticks
		r.event(dump.Event{Tick: ticks[step] - 1, Kind: dump.EventCheckpointLoaded, Name: "model_10.pt", Detail: map[string]any{"missing_keys": []any{"x", key}}})
		r.add("normalizer.count", dump.StageNormalizer, nil, func(i, _ int) float64 { return 48 * float64(i) })
		if fail {
			r.all("policy.mean", -1, nan).all("action", -1, nan)
		}
		c, _ := r.judge()
		return c
	}
	f := run(29, "actor.obs_normalizer._var", true).feature(X19)
	assert.Equal(t, yes, f.Value, f.Text)
	assert.Contains(t, f.Text, "without actor.obs_normalizer._var")
	assert.Equal(t, no, run(29, "actor.3.weight", true).feature(X19).Value, "a layer")
	assert.Equal(t, no, run(4, "actor.obs_normalizer._var", true).feature(X19).Value, "long before")
	assert.Equal(t, no, run(29, "actor.obs_normalizer._var", false).feature(X19).Value, "nothing went wrong")
}

// echoing lets the first column of the observation hold the second of the action,
// with some noise, and both grow by a factor in the last 25 steps.
func echoing(noise, growth float64) *loopRun {
	r := newRun(60)
	a, o := r.fields["action"], r.fields["obs.policy"]
	for i := range a.v {
		for row := range a.v[i] {
			if i >= 35 {
				for col := range a.v[i][row] {
					a.v[i][row][col] = 2 * math.Pow(growth, float64(i-34))
				}
				r.fields["policy.mean"].v[i][row] = a.v[i][row]
			}
			o.v[i][row][0] = a.v[i][row][1] * (1 + noise*hash(5, i, row, 0))
		}
	}
	return r.set("reward.reach", -1, 0, 0, inf)
}

// TestTheObservationRepeatsTheAction: what an observation only repeats began in the
// action; what merely resembles it did not.
func TestTheObservationRepeatsTheAction(t *testing.T) {
	c, d := echoing(0, 9).judge()
	assert.Contains(t, []string{"action", "policy.mean"}, c.root().name)
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Contains(t, []string{ActionExplosion, LearnerExplosion}, d.Causes[0].ID, "not a formula of the observation")
	for _, noise := range []float64{0, 1e-2} {
		r := echoing(noise, 9)
		r.tell()
		c, err := NewCase(r)
		assert.NoError(t, err)
		o := c.byName["obs.policy"]
		s := c.inFrame(o, o.len()-1, 0)
		s.col = 0
		_, ok := c.echoed(&s)
		assert.Equal(t, noise == 0, ok)
	}
}

// TestReturnsAreMadeOfRewards: a return that overflows is followed to the reward
// term behind it, a value is not.
func TestReturnsAreMadeOfRewards(t *testing.T) {
	run := func(name string) *Case {
		r := newRun(32).addEnvs(name, dump.StageValue, "float32", func(i, row int) float64 {
			if i == 31 && row == 1 {
				return inf
			}
			return 1 + hash(9, i, row)
		}).set("reward.reach", -1, 1, 0, math.MaxFloat32)
		c, _ := r.judge()
		return c
	}
	assert.Equal(t, "reward.reach", run("return").root().name)
	assert.Equal(t, "q", run("q").root().name)
}
