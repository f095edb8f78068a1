package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestRestGoesOn: an observation of few columns that is bad in the same ones for some frames,
// while the others move on, was not made of a state that ran away.
func TestRestGoesOn(t *testing.T) {
	run := func(from int, value float64, cols ...int) *loopRun {
		r := newRun(12).only("obs.policy")
		for i, frame := range r.fields["obs.policy"].v {
			for row := range frame {
				for _, col := range cols {
					if i >= from && row != 2 {
						frame[row][col] = value
					}
				}
			}
		}
		return r
	}
	for name, r := range map[string]*loopRun{
		"from the first observation on": run(0, nan, 4),
		"from later on":                 run(6, nan, 1),
		"two columns":                   run(0, nan, 0, 1),
	} {
		c, d := r.judge()
		assert.True(t, c.restGoesOn(c.root()), name)
		assert.LessOrEqual(t, c.hidden[onPhysics], implied, name)
		for _, cause := range d.Causes {
			if cause.ID == ActionExplosion || cause.ID == BadModel {
				assert.Less(t, cause.Probability, 0.1, "%s: %s", name, cause.ID)
			}
		}
	}
	later := func(col int, v float64) *loopRun {
		r := run(0, nan, 4)
		for row := range r.man.EnvIDs {
			r.set("obs.policy", 2, row, col, v)
		}
		return r
	}
	still := run(0, nan, 4)
	for _, frame := range still.fields["obs.policy"].v {
		for row := range frame {
			copy(frame[row][:4], []float64{1, 2, 3, 4})
		}
	}
	reset := run(6, nan, 1)
	for name, r := range map[string]*loopRun{
		"it spreads":                   later(3, nan),
		"it heals":                     later(4, 0.3),
		"the others run away":          later(3, 1e30),
		"the others stand still":       still,
		"most of it":                   run(0, nan, 0, 1, 2),
		"the file ends":                run(10, math.Inf(1), 4),
		"the env is reset in between":  reset.event(dump.Event{Tick: reset.fields["obs.policy"].ticks[7], Kind: dump.EventReset, Envs: reset.man.EnvIDs, Count: 5}),
		"everything goes bad for good": run(6, nan, 0, 1, 2, 3, 4),
	} {
		c, _ := r.judge()
		assert.False(t, c.restGoesOn(c.root()), name)
	}
}
