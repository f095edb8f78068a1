package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// recurrent is a run with a memory of each env that leaks by a share in each step, and that
// a reset multiplies by a factor; all envs are reset in every twelfth step.
func recurrent(name string, keep, atResetBy float64, leaps bool) *loopRun {
	r := newRun(160)
	h := make([][]float64, len(r.man.EnvIDs))
	for row := range h {
		h[row] = make([]float64, 3)
	}
	o := r.fields["obs.policy"]
	for i := range o.v {
		for row := range o.v[i] {
			for col := range o.v[i][row] {
				o.v[i][row][col] = math.Sin(0.05*float64(i) + float64(row+col))
				if leaps {
					o.v[i][row][col] += 3 * hash(i/12, row, col)
				}
			}
		}
	}
	for i := 11; i < 160; i += 12 {
		r.resetAt(i)
	}
	return r.withCols(6, name, dump.StagePolicy, func(i, row, col int) float64 {
		v := h[row][col%3]
		if i%12 == 0 && i > 0 {
			v *= atResetBy
		}
		v = keep*v + (1-keep)*(2+hash(i, row, col))
		h[row][col%3] = v
		return v
	})
}

// TestKeptMemory is X25 for the state of a recurrent policy that outlives resets.
func TestKeptMemory(t *testing.T) {
	for name, r := range map[string]*loopRun{
		"hidden": recurrent("policy.hidden", 0.9, 1, true),
		"lstm":   recurrent("policy.lstm.cell", 0.97, 1, true),
		"critic": recurrent("policy.gru_state", 0.85, 1, true),
	} {
		c, d := r.judge()
		assert.Equal(t, atReset, c.feature(X25).Value, "%s: %s", name, c.feature(X25).Text)
		assert.Equal(t, BadReset, d.Verdict, name)
	}
	meta := recurrent("policy.hidden", 0.9, 1, true)
	meta.man.Facts["meta.episodes_per_trial"] = 4.0
	cleared := recurrent("policy.hidden", 0.9, 0, true)
	f := cleared.fields["policy.hidden"]
	for i := len(f.v) - 1; i > 0; i-- {
		f.v[i] = f.v[i-1] // what is recorded is what the next forward pass clears
	}
	for name, r := range map[string]*loopRun{
		"over episodes on purpose": meta,
		"cleared later":            cleared,
		"cleared":                  recurrent("policy.hidden", 0.9, 0, true),
		"soon forgotten":           recurrent("policy.hidden", 0.05, 1, true),
		"nothing else leaps":       recurrent("policy.hidden", 0.9, 1, false),
		"no memory":                recurrent("policy.latent", 0.9, 1, true),
		"weights of a memory":      recurrent("param.gru.weight", 0.9, 1, true),
	} {
		c, _ := r.judge()
		assert.NotEqual(t, atReset, c.feature(X25).Value, "%s: %s", name, c.feature(X25).Text)
	}
}
