package rootcause

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// five returns the candidates that are always in the running, with the
// textbook's prior: C1 to C5 and C0 of causes.md.
func five() []candidate {
	var cs []candidate
	for i := range catalogue {
		if catalogue[i].enters == nil {
			cs = append(cs, candidate{cause: &catalogue[i], index: i, prior: catalogue[i].prior[TextbookPrior]})
		}
	}
	return cs
}

// given returns features with the given values.
func given(pairs ...any) []Feature {
	var fs []Feature
	for i := 0; i < len(pairs); i += 2 {
		fs = append(fs, Feature{ID: pairs[i].(FeatureID), Value: pairs[i+1].(string), Env: -1})
	}
	return fs
}

// TestWorkedPosteriors checks the combination against the worked table of
// causes.md §3.3, which gives two digits. Its rows say "it 800" only in the first
// column and mean it in all: F7 is "no" wherever the iteration was not early. The
// last row of the table (a NaN that is in the parameters already) and "random
// envs" stand for the features named here, found by search: F1 is loss_grad and
// phys in them. Every row but the first follows to 0.01 from a base rate b of
// 0.02; the first (which leaves b open) to 0.015.
func TestWorkedPosteriors(t *testing.T) {
	for _, c := range []struct {
		dump string
		f    []Feature
		want [6]float64 // contact, reward, normalizer, std, graph, unknown
	}{
		{"nothing known", nil, [6]float64{.27, .225, .18, .135, .09, .10}},
		{"qacc first, growth, ITER bit, 1 env, it 800", given(F1, onPhysics, F2, yes, F3, yes, F8, "few", F7, no), [6]float64{.97, 0, 0, 0, .03, 0}},
		{"only what mjlab's guard dumps", given(F1, onPhysics, F8, "few", F7, no), [6]float64{.85, .02, 0, 0, .08, .05}},
		{"term spike first, physics finite, 1 env", given(F1, onReward, F6, yes, F8, "few"), [6]float64{0, .98, 0, 0, 0, .01}},
		{"total reward only, loss first seen bad", given(F1, onLearner, F8, "few", F7, no), [6]float64{.16, .43, .03, .03, .04, .30}},
		{"it 2, all envs, low-variance dims", given(F1, onObsNorm, F7, yes, F8, "all", F9, yes), [6]float64{0, 0, 1, 0, 0, 0}},
		{"it 800, obs_norm bad in all envs, read naively", given(F1, onObsNorm, F8, "all", F7, no), [6]float64{.01, .01, .69, .11, .05, .13}},
		{"same, root moved", given(F1, onPhysics, F8, "few", F7, no), [6]float64{.85, .02, 0, 0, .08, .05}},
		{"std at clamp, log_prob first", given(F1, onStd, F10, yes, F8, "all"), [6]float64{0, 0, 0, .98, 0, .01}},
		{"stale address, DR event, some envs, not reproducible", given(F12, yes, F15, yes, F8, "some", F13, yes), [6]float64{.01, 0, 0, 0, .99, 0}},
		{"random envs only", given(F1, onPhysics, F13, yes, F8, "some"), [6]float64{.35, 0, 0, 0, .56, .08}},
		{"params already NaN at k = 0", given(F11, yes, F1, onLearner, F8, "all", F7, no), [6]float64{0, .02, .07, .45, 0, .46}},
	} {
		cs := five()
		combine(c.f, cs, HandSet(), 1)
		for i, want := range c.want {
			assert.InDelta(t, want, cs[i].post, 0.015, "%s: %s", c.dump, cs[i].id)
		}
	}
}

// everyFeature returns all features with the same value where the table has it.
func everyFeature(value string) []Feature {
	var fs []Feature
	for _, r := range rules {
		v := values(r.id)
		if len(v) == 0 {
			continue
		}
		f := Feature{ID: r.id, Value: v[0], Base: 0.1, Env: -1}
		if value == no {
			f.Value = v[len(v)-1]
		}
		fs = append(fs, f)
	}
	return fs
}

func TestPosteriorSumsToOne(t *testing.T) {
	for _, fs := range [][]Feature{nil, given(F1, onPhysics), everyFeature(yes), everyFeature(no)} {
		for _, cs := range [][]candidate{five(), everyCause()} {
			combine(fs, cs, HandSet(), 1)
			sum := 0.0
			for _, c := range cs {
				assert.GreaterOrEqual(t, c.post, 0.0)
				sum += c.post
			}
			assert.InDelta(t, 1, sum, 1e-12)
		}
	}
}

// everyCause returns the whole catalogue in the running.
func everyCause() []candidate {
	var cs []candidate
	sum := 0.0
	for i := range catalogue {
		cs = append(cs, candidate{cause: &catalogue[i], index: i, prior: catalogue[i].prior[TextbookPrior]})
		sum += cs[i].prior
	}
	for i := range cs {
		cs[i].prior /= sum
	}
	return cs
}

// TestUnknownIsNotEvidence: adding a feature that is unknown changes nothing.
func TestUnknownIsNotEvidence(t *testing.T) {
	fs := given(F1, onPhysics, F2, yes, F8, "few")
	want := five()
	combine(fs, want, HandSet(), 1)
	for _, r := range rules {
		got := five()
		combine(append(append([]Feature{}, fs...), Feature{ID: r.id, Value: unknown}), got, HandSet(), 1)
		for i := range got {
			assert.Equal(t, want[i].post, got[i].post, "%s unknown, %s", r.id, got[i].id)
		}
	}
}

// TestEvidenceIsCapped: no feature says more than four nats, tempered.
func TestEvidenceIsCapped(t *testing.T) {
	for _, f := range everyFeature(yes) {
		for _, w := range combine([]Feature{f}, five(), HandSet(), 1) {
			for _, n := range w.nats {
				assert.LessOrEqual(t, math.Abs(n), mostNats*temper+1e-12, f.ID)
			}
		}
	}
}

// TestCorrelatedFeaturesCountOnce: F2 and F3 say much the same; together they
// say less than the sum of both.
func TestCorrelatedFeaturesCountOnce(t *testing.T) {
	gain := func(fs []Feature) float64 {
		cs := five()
		combine(fs, cs, HandSet(), 1)
		return math.Log(cs[0].post / cs[5].post)
	}
	none := gain(nil)
	a, b, both := gain(given(F2, yes))-none, gain(given(F3, yes))-none, gain(given(F2, yes, F3, yes))-none
	assert.InDelta(t, math.Max(a, b)+math.Min(a, b)/2, both, 1e-9)
}

// TestHalfEvidence: a root whose inputs are not recorded is worth half.
func TestHalfEvidence(t *testing.T) {
	full := weigh(&Feature{ID: F1, Value: onPhysics}, five())
	half := weigh(&Feature{ID: F1, Value: onPhysics, Half: true}, five())
	for i := range full {
		assert.InDelta(t, full[i]/2, half[i], 1e-12)
	}
}

// TestBaseRate: a feature that many healthy envs show says little.
func TestBaseRate(t *testing.T) {
	rare := weigh(&Feature{ID: F3, Value: yes, Base: 0.05}, five())
	common := weigh(&Feature{ID: F3, Value: yes, Base: 0.6}, five())
	assert.Greater(t, rare[0], 0.9)
	assert.Less(t, math.Abs(common[0]), 0.2)
	assert.InDelta(t, 1.0/7, baseRate(0, 5), 1e-12)
	assert.InDelta(t, 3.0/7, baseRate(2, 5), 1e-12)
}

func TestVerdictIsEarned(t *testing.T) {
	at := func(p ...float64) []candidate {
		cs := make([]candidate, len(p))
		for i := range p {
			cs[i].post = p[i]
		}
		return cs
	}
	assert.True(t, HandSet().earned(&Findings{}, at(.75, .25)))
	assert.True(t, HandSet().earned(&Findings{}, at(.60, .24)))
	assert.False(t, HandSet().earned(&Findings{}, at(.59, .1)), "below 0.6")
	assert.False(t, HandSet().earned(&Findings{}, at(.68, .28)), "less than two and a half times the second")
	assert.False(t, HandSet().earned(&Findings{}, nil))
}

// TestLikelihoodTable: every row is complete, no outcome has two, the values of a
// feature share one, and the numbers are probabilities.
func TestLikelihoodTable(t *testing.T) {
	for _, k := range catalogue {
		require.True(t, hasColumn(k.id) != hasColumn(k.like), k.id)
	}
	seen := map[outcome]bool{}
	for _, r := range likelihoods {
		o := outcome{r.feature, r.value}
		assert.False(t, seen[o], "%v has two rows", o)
		seen[o] = true
		assert.True(t, slices.ContainsFunc(rules, func(k rule) bool { return k.id == r.feature }), "%v is of no rule", o)
		for i := range catalogue {
			p := r.of(&catalogue[i])
			assert.True(t, p == b || p > 0 && p < 1, "%v of %s: %v", o, catalogue[i].id, p)
		}
	}
	for _, r := range rules {
		vs := values(r.id)
		require.NotEmpty(t, vs, "%s has likelihoods", r.id)
		for i := range catalogue {
			sum := 0.0
			for _, v := range vs {
				p, ok := likelihood(r.id, v, 0.1)
				require.True(t, ok)
				sum += p[i]
			}
			assert.InDelta(t, 1, sum, 0.12, "%s of %s", r.id, catalogue[i].id)
		}
	}
}

// TestRareOutcomesExist: what is said of causes without a column is said of
// outcomes that the table has.
func TestRareOutcomesExist(t *testing.T) {
	for id, outcomes := range rare {
		require.GreaterOrEqual(t, indexOf(id), 0, id)
		assert.False(t, hasColumn(id), id)
		for o, p := range outcomes {
			assert.Contains(t, tabulate().p, o, id)
			assert.True(t, p > 0 && p < 1, "%s %v", id, o)
		}
	}
}

// TestExpectedDrop: a feature that tells two causes apart is worth more than one
// that does not, and nothing is worth less than nothing.
func TestExpectedDrop(t *testing.T) {
	cs := five()
	for i := range cs {
		cs[i].post = cs[i].prior
	}
	contactOrGraph := []candidate{cs[0], cs[4]}
	assert.Greater(t, expectedDrop(F14, contactOrGraph), expectedDrop(F9, contactOrGraph))
	for _, r := range rules {
		assert.GreaterOrEqual(t, expectedDrop(r.id, contactOrGraph), -1e-9, r.id)
	}
}

// TestShown: the five stand first in the order of the table, unknown last.
func TestShown(t *testing.T) {
	var all []Hypothesis
	for _, id := range []string{BadModel, StaleGraph, UnknownCause, ContactDivergence, SimKernel, PolicyStd, RewardOverflow, NormalizerCold} {
		all = append(all, Hypothesis{ID: id})
	}
	assert.Equal(t, []string{ContactDivergence, RewardOverflow, NormalizerCold, PolicyStd, StaleGraph, BadModel, SimKernel, UnknownCause}, shown(all))
	_, d := newRun(30).judge()
	assert.Equal(t, Clean, d.Verdict)
	assert.Empty(t, d.Shown)
}

func ExampleDiagnose() {
	c, _ := NewCase(runaway(newRun(30), 0))
	d := Diagnose(c, DefaultOptions())
	fmt.Println(d.Verdict, d.FirstBad.Field, d.Root.Field)
	// Output: contact-divergence qacc qvel
}

// TestBalance: a balance ranks as its findings do, whatever it was asked before, and
// its terms grow with the trust in their features.
func TestBalance(t *testing.T) {
	f := &Findings{features: given(F1, onPhysics, F2, yes, F3, yes, F8, "few"), coverage: 0.8}
	for i := range catalogue {
		f.running = append(f.running, entrant{i, 1})
	}
	b := f.Balance(TextbookPrior)
	_, plain := b.Weigh(HandSet())
	w := HandSet()
	w.Trust = map[FeatureID]float64{F8: 2}
	_, trusted := b.Weigh(w)
	want, verdict := f.Rank(Options{Weights: w})
	got, same := b.Rank(w)
	assert.Equal(t, want, got)
	assert.Equal(t, verdict, same)
	for i := range plain {
		for j := range plain[i].Nats {
			factor := 1.0
			if plain[i].Feature == F8 {
				factor = 2
			}
			assert.InDelta(t, factor*plain[i].Nats[j], trusted[i].Nats[j], 1e-12)
		}
	}
}
