package rootcause

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWeightsFile: weights.json is what the fitter writes, says how it was made,
// and stays close to the hand-set values.
func TestWeightsFile(t *testing.T) {
	w, err := ReadWeights(weightsFile)
	require.NoError(t, err)
	data, err := json.MarshalIndent(w, "", " ")
	require.NoError(t, err)
	assert.Equal(t, string(data)+"\n", string(weightsFile), "written by go run ./bench/diagnosis -fit")
	assert.Contains(t, w.Made, "bench/diagnosis -fit")
	assert.Positive(t, w.Samples)
	for id, v := range w.Trust {
		assert.InDelta(t, 1, v, 0.5, "%s", id)
	}
	for id, v := range w.Prior {
		assert.InDelta(t, 0, v, 0.7, id)
	}
	require.NotEmpty(t, w.Bands)
	for _, b := range w.Bands {
		assert.InDelta(t, 1, b.Temperature, 0.5, b.Name)
		if b.Censored {
			assert.GreaterOrEqual(t, b.Temperature, 1.0, "%s: never more certain", b.Name)
		}
	}
	for _, censored := range []bool{true, false} {
		assert.GreaterOrEqual(t, w.Band(&Findings{censored: censored}), 0, "every dump has a band")
	}
	assert.GreaterOrEqual(t, w.Belief, 0.5)
}

func TestReadWeightsRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":          "{",
		"no such feature":  `{"trust": {"F99": 1}, "belief": 0.6, "lead": 2}`,
		"no trust":         `{"trust": {"F1": 0}, "belief": 0.6, "lead": 2}`,
		"no such cause":    `{"prior": {"gremlins": 1}, "belief": 0.6, "lead": 2}`,
		"no temperature":   `{"bands": [{"name": "all"}], "belief": 0.6, "lead": 2}`,
		"all unforeseen":   `{"bands": [{"name": "all", "temperature": 1, "unforeseen": 1}], "belief": 0.6, "lead": 2}`,
		"no bar":           `{}`,
		"a bar of nothing": `{"belief": 0.6, "lead": 0.5}`,
	} {
		_, err := ReadWeights([]byte(text))
		assert.ErrorContains(t, err, "weights", name)
	}
}

// TestTemperature: warmer beliefs are drawn together, and the order stays.
func TestTemperature(t *testing.T) {
	f := &Findings{features: given(F1, onPhysics, F2, yes, F8, "few"), coverage: 0.8}
	for i := range catalogue {
		if catalogue[i].enters == nil {
			f.running = append(f.running, entrant{i, 1})
		}
	}
	at := func(temperature float64) []Belief {
		w := HandSet()
		w.Bands = []Band{{Name: "all", Temperature: temperature}}
		all, _ := f.Rank(Options{Weights: w})
		return all
	}
	cool, plain, warm := at(0.5), at(1), at(2)
	assert.Greater(t, cool[0].Probability, plain[0].Probability)
	assert.Less(t, warm[0].Probability, plain[0].Probability)
	for i := range plain {
		assert.Equal(t, plain[i].Cause, warm[i].Cause)
	}
	w := HandSet()
	w.Prior = map[string]float64{StaleGraph: 50}
	all, verdict := f.Rank(Options{Weights: w})
	assert.Equal(t, StaleGraph, all[0].Cause)
	assert.Equal(t, StaleGraph, verdict)
	f.barred = true
	_, verdict = f.Rank(Options{Weights: w})
	assert.Equal(t, UnknownCause, verdict)
}

// TestUnforeseen: facts that all agree leave the share of the band to "unknown", and
// the order of the others as it is.
func TestUnforeseen(t *testing.T) {
	f := &Findings{features: given(F1, onPhysics, F2, yes, F3, yes, F8, "few"), coverage: 0.8}
	for i := range catalogue {
		if catalogue[i].enters == nil {
			f.running = append(f.running, entrant{i, 1})
		}
	}
	w := HandSet()
	w.Bands = []Band{{Name: "all", Temperature: 1}}
	sure, _ := f.Rank(Options{Weights: w})
	w.Bands[0].Unforeseen = 0.1
	doubted, _ := f.Rank(Options{Weights: w})
	share := func(all []Belief, cause string) float64 {
		return all[slices.IndexFunc(all, func(b Belief) bool { return b.Cause == cause })].Probability
	}
	assert.InDelta(t, 0.1+0.9*share(sure, UnknownCause), share(doubted, UnknownCause), 1e-12)
	assert.Equal(t, ContactDivergence, doubted[0].Cause)
	sum := 0.0
	for _, b := range doubted {
		sum += b.Probability
		if b.Cause != UnknownCause {
			assert.InDelta(t, 0.9*share(sure, b.Cause), b.Probability, 1e-12, b.Cause)
		}
	}
	assert.InDelta(t, 1, sum, 1e-12)
}
