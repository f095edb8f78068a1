package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/rootcause"
)

func ptr[T any](v T) *T { return &v }

// sample is a diagnosis with every part filled.
func sample() *rootcause.Diagnosis {
	root := rootcause.Onset{
		Field: "qvel", Env: ptr(29), Col: 7, Column: "FR_thigh_joint",
		Tick: 137, Clock: "substep", Count: 33, Class: "huge", Envs: 1,
	}
	bad := rootcause.Onset{
		Field: "obs.critic", Env: ptr(29), Col: 60, Column: "foot_height[0]",
		Tick: 144, Clock: "step", Count: 35, Class: "nan", Envs: 1,
	}
	return &rootcause.Diagnosis{
		Verdict: "contact-divergence", Coverage: 0.73,
		FirstBad: &bad, Root: &root, Order: []rootcause.Onset{root, bad},
		Causes: []rootcause.Hypothesis{
			{
				ID: "contact-divergence", Title: "contact or constraint solver diverges", Probability: 0.962,
				Evidence: []rootcause.Evidence{
					{Text: "qvel of env 29 grew 13x a substep over the last 3 substeps, to 6.2e6 rad/s in FR_thigh_joint", Weight: 2.1},
					{Text: "solver_niter stayed under its limit of 10", Weight: -0.4},
				},
				Fix: "halve sim.timestep from 0.04 to 0.02 or less",
			},
			{ID: "unknown", Title: "none of these explains what is recorded", Probability: 0.004},
		},
		Checklist: []rootcause.Check{
			{Row: 1, Check: "reward division", Status: rootcause.Cleared, Evidence: "12 terms stay under 100x their 99.9 % quantile"},
			{Row: 5, Check: "timestep", Status: rootcause.Implicated, Evidence: "0.04 s", Fix: "try 0.02 s"},
			{Row: 10, Check: "CUDA graph", Status: rootcause.Unknown, Evidence: "no graph_capture event was recorded"},
		},
		Next:     []rootcause.Action{{Text: "halve the timestep and run again"}},
		Warnings: []string{"model.mjb is not beside the dump: columns have no joint names"},
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Text(&b, sample(), Options{Title: "nan_dump.npz: mjlab, 48 envs", Width: 90}))
	golden.RequireEqual(t, b.Bytes())
}

// TestTextShowsTheFiveFirst: the brief's causes stand first in the order of its
// table, whatever is likelier; the headline says what that is.
func TestTextShowsTheFiveFirst(t *testing.T) {
	d := &rootcause.Diagnosis{Verdict: "unknown"}
	for i, id := range []string{"bad-model", "stale-graph", "unknown", "contact-divergence", "sim-kernel", "policy-std", "reward-overflow", "normalizer-cold"} {
		d.Causes = append(d.Causes, rootcause.Hypothesis{ID: id, Title: "title of " + id, Probability: []float64{.4, .3, .1, .06, .05, .04, .03, .02}[i]})
	}
	d.Shown = append(rootcause.Brief(), "bad-model", "sim-kernel", "unknown")
	var b bytes.Buffer
	require.NoError(t, Text(&b, d, Options{}))
	at := -1
	for _, id := range d.Shown {
		k := strings.Index(b.String(), id+": title")
		assert.Greater(t, k, at, id)
		at = k
	}
	assert.Contains(t, b.String(), "likeliest: bad-model (40 %), then stale-graph (30 %), then unknown (10 %), then contact-divergence")
}

func TestTextClean(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Text(&b, &rootcause.Diagnosis{Verdict: "clean", Coverage: 1}, Options{}))
	assert.Equal(t, "  CLEAN: nothing wrong in what was recorded\n", b.String())
}

func TestTextKeepsToItsWidth(t *testing.T) {
	for width := 60; width <= 110; width++ {
		for _, color := range []bool{false, true} {
			var b bytes.Buffer
			require.NoError(t, Text(&b, sample(), Options{Title: strings.Repeat("name ", 40), Width: width, Color: color}))
			for _, line := range strings.Split(b.String(), "\n") {
				assert.LessOrEqual(t, ansi.StringWidth(line), width, line)
			}
		}
	}
}

func TestTextDefusesHostileNames(t *testing.T) {
	d := sample()
	d.Root.Column = "\x1b[2Jx\u202e"
	d.Warnings = []string{"\x1b]0;pwned\a"}
	var b bytes.Buffer
	require.NoError(t, Text(&b, d, Options{Title: "a\x1b[31m.npz"}))
	assert.NotContains(t, b.String(), "\x1b")
	assert.NotContains(t, b.String(), "\u202e")
	assert.Contains(t, b.String(), `\x1b[2J`)
}
