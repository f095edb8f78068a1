package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestOtherRows is X25 for observations that are made of another env's state.
func TestOtherRows(t *testing.T) {
	run := func(whose func(row, n int) int, cols int) *loopRun {
		r := newRun(60)
		o, q := r.fields["obs.policy"], r.fields["qpos"]
		for i := range o.v {
			for row := range o.v[i] {
				for col := range cols {
					k := i*decimation + decimation - 1 // the last substep of the step
					o.v[i][row][col] = q.v[k][whose(row, len(o.v[i]))][col]
				}
			}
		}
		return r
	}
	own := func(row, _ int) int { return row }
	next := func(row, n int) int { return (row + 1) % n }
	c, d := run(next, 3).judge()
	assert.Equal(t, mixedUp, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, UnknownCause, d.Verdict, "no cause of the catalogue shifts rows")
	both := run(next, 3) // what another agent sees of itself and of its neighbour
	for i := range both.fields["obs.policy"].v {
		for row := range both.fields["obs.policy"].v[i] {
			both.fields["obs.policy"].v[i][row][3] = both.fields["qpos"].v[i*decimation+decimation-1][row][0]
		}
	}
	first := func(row, _ int) int {
		if row == 1 {
			return 0
		}
		return row
	}
	for name, r := range map[string]*loopRun{
		"own":               run(own, 3),
		"two columns":       run(next, 2),
		"own and others'":   both,
		"one env":           run(first, 3),
		"at rest":           run(next, 3).all("qpos", 0, 0.3).all("obs.policy", 0, 0.3),
		"a run with resets": run(own, 3).event(dump.Event{Tick: 300, Kind: dump.EventReset, Envs: []int{7}, Count: 1}),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}
