package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// lateRun is a run whose controls, once a step, are the actions of some steps ago, and whose
// observation holds the last action; all envs are reset at some steps, after which a cleared
// line gives zeros, and a cleared observation holds none; with leaps 1 they put the pose back.
func lateRun(late int, lineCleared, seenCleared, rounded bool, leaps int) *loopRun {
	r := newRun(60).drop("ctrl")
	r.addEnvs("ctrl", "policy", "float32", func(int, int) float64 { return 0 })
	a, u, o, q := r.fields["action"], r.fields["ctrl"], r.fields["obs.policy"], r.fields["qpos"]
	u.spec.Order, u.ticks = 62.5, a.ticks
	since := 0
	for i := range a.v {
		if i%12 == 11 {
			r.resetAt(i - 1)
			since = i
		}
		for row := range a.v[i] {
			for sub := i * decimation; sub < (i+1)*decimation; sub++ {
				for col := range q.v[sub][row] {
					q.v[sub][row][col] = 0.01 * float64(sub-leaps*since*decimation)
				}
			}
			u.v[i][row] = []float64{0, 0, 0}
			if from := i - late; from >= 0 && (!lineCleared || from >= since) {
				copy(u.v[i][row], a.v[from][row])
			}
			if rounded {
				u.v[i][row][0] *= 1 + 1e-6
			}
			if o.v[i][row][0] = a.v[i][row][0]; seenCleared && (i+1)%12 == 11 {
				o.v[i][row][0], o.v[i][row][1], o.v[i][row][2] = 0, 0, 0
			} else {
				copy(o.v[i][row], a.v[i][row])
			}
		}
	}
	return r
}

// TestKeptActions is X25 for delayed actions that outlive resets, and for lines that are
// cleared, controls that are recorded a step late, and observations alone.
func TestKeptActions(t *testing.T) {
	c, d := lateRun(2, false, false, false, 1).judge()
	assert.Equal(t, atReset, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, BadReset, d.Verdict)
	for name, r := range map[string]*loopRun{
		"a line that is cleared":              lateRun(2, true, false, false, 1),
		"an observation that is cleared":      lateRun(2, false, true, false, 1),
		"recorded before it is written":       lateRun(1, false, false, false, 1),
		"no delay at all":                     lateRun(0, false, false, false, 1),
		"episodes that only count as over":    lateRun(2, false, false, false, 0),
		"controls that are made of something": lateRun(2, false, false, true, 1),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}
