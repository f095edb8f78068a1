package main

import (
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/rootcause"
)

// TestWeigh: a fixture counts as much as a captured dump, whatever its seeds, a
// degraded version half, and every cause as much as any other.
func TestWeigh(t *testing.T) {
	t.Parallel()
	all := []example{
		{sample: sample{Source: "fixture", Name: "a", Seed: 0, Version: "full", Want: "x"}},
		{sample: sample{Source: "fixture", Name: "a", Seed: 2, Version: "full", Want: "x"}},
		{sample: sample{Source: "fixture", Name: "a", Seed: 0, Version: "sb3", Want: "x"}},
		{sample: sample{Source: "captured", Name: "b", Version: "full", Want: "x"}},
		{sample: sample{Source: "captured", Name: "c", Version: "full", Want: "y"}},
	}
	weigh(all)
	for i, want := range []float64{0.5, 0.5, 0.5, 1, 2.5} {
		assert.InDelta(t, want*1.75/2.5, all[i].weight, 1e-12, "%d", i) // of 3.5 in all, each cause has half
	}
}

// TestFit fits to a few dumps: what helps them is believed more, within bounds, and
// the test half is left alone.
func TestFit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds fixtures")
	}
	all, err := measureCaptured(options{collection: "../../fixtures/captured/testdata", split: "tune"})
	require.NoError(t, err)
	var few []example
	for _, e := range all {
		if e.Version == "full" && len(few) < 12 {
			few = append(few, e)
		}
	}
	w, err := fit(few, io.Discard)
	require.NoError(t, err)
	plain, fitted := rootcause.HandSet(), *w
	kept := few[:0]
	for _, e := range few {
		if e.Want != rootcause.Clean {
			kept = append(kept, e)
		}
	}
	weigh(kept)
	fitted.Bands = nil // the temperature is fitted to something else
	assert.Less(t, loss(kept, &fitted), loss(kept, plain))
	for id, v := range w.Trust {
		assert.InDelta(t, 1, v, 0.5, "%s", id)
	}
	for i := range few {
		few[i].Split = "test"
	}
	_, err = fit(few, io.Discard)
	assert.ErrorContains(t, err, "no example")
}

// TestSlope: the slope is what the loss does when one parameter moves a little.
func TestSlope(t *testing.T) {
	t.Parallel()
	all, err := measureCaptured(options{collection: "../../fixtures/captured/testdata", split: "tune"})
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(e example) bool { return e.Version != "full" || e.Want == rootcause.Clean })
	weigh(all)
	p, w := newParameters(all), rootcause.HandSet()
	x := make([]float64, len(p.features)+len(p.causes))
	for i := range x {
		x[i] = 0.05 * float64(i%7-3) // apart from zero, where two members of a group may be as strong
	}
	grad, at := slices.Clone(x), slices.Clone(x)
	clear(grad)
	p.set(w, x)
	assert.InDelta(t, loss(all, w), p.slope(all, w, x, grad), 1e-9)
	steep := 0
	for i := range x {
		const h = 1e-5
		at[i] = x[i] + h
		p.set(w, at)
		up := loss(all, w)
		at[i] = x[i] - h
		p.set(w, at)
		assert.InDelta(t, (up-loss(all, w))/(2*h), grad[i], 1e-4, "parameter %d", i)
		at[i] = x[i]
		if math.Abs(grad[i]) > 0.01 {
			steep++
		}
	}
	assert.Greater(t, steep, len(x)/3, "most parameters matter")
}
