package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// stuck holds columns of the observation at their values of a frame from there on.
func stuck(r *loopRun, from int, cols ...int) *loopRun {
	f := r.fields["obs.policy"]
	for i := from + 1; i < len(f.v); i++ {
		for row := range f.v[i] {
			for _, col := range cols {
				f.v[i][row][col] = f.v[from][row][col]
			}
		}
	}
	return r
}

// TestStuckColumns: some columns of an observation die in all envs; what stands
// still for other reasons is none.
func TestStuckColumns(t *testing.T) {
	c, d := stuck(newRun(80), 40, 1, 2).judge()
	assert.Equal(t, "part", c.feature(X8).Value, c.feature(X8).Text)
	assert.Contains(t, c.feature(X8).Text, "2 columns of obs.policy")
	assert.Equal(t, BadSensor, d.Causes[0].ID)
	same := stuck(newRun(80), 40, 1, 2)
	for i := 40; i < 80; i++ {
		for row := range same.man.EnvIDs {
			same.set("obs.policy", i, row, 1, 5).set("obs.policy", i, row, 2, -5)
		}
	}
	for name, r := range map[string]*loopRun{
		"one column":         stuck(newRun(80), 40, 1),
		"at two times":       stuck(stuck(newRun(80), 40, 1), 44, 2),
		"for a short time":   stuck(newRun(80), 65, 1, 2),
		"parameters of envs": stuck(newRun(80), 0, 1, 2),
		"at a bound":         same,
	} {
		c, d := r.judge()
		assert.NotEqual(t, "part", c.feature(X8).Value, name)
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestBlindPolicy: an observation that stands still as a whole while the physics goes on, and
// what may well stand still.
func TestBlindPolicy(t *testing.T) {
	whole := func(from int) *loopRun {
		r := stuck(newRun(80), from, 0, 1, 2, 3, 4)
		return r.hold("policy.mean", from, own) // of the same observation
	}
	c, d := whole(40).judge()
	assert.Equal(t, yes, c.feature(X8).Value, c.feature(X8).Text)
	assert.Equal(t, StaleGraph, d.Causes[0].ID)
	assert.NotEqual(t, Clean, d.Verdict)
	for name, r := range map[string]*loopRun{
		"from the start":              whole(0),
		"for a moment":                whole(65),
		"of a robot at rest":          whole(40).hold("qvel", 160, func(int) float64 { return 0 }),
		"of one that comes to rest":   whole(40).hold("qvel", 170, own),
		"by a policy that is at rest": whole(40).hold("action", 40, own).hold("ctrl", 160, own),
		"at one value for all envs":   newRun(80).hold("obs.policy", 40, same),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestTheNormalizerRemembers: columns that stand still in the whole file, by the
// running mean that still moves as one over the count.
func TestTheNormalizerRemembers(t *testing.T) {
	run := func(before float64, reset bool) *loopRun {
		r := stuck(newRun(60), 0, 1, 2)
		m := r.fields["normalizer.mean"]
		spec := m.spec
		spec.Name, spec.Order = "normalizer.count", 48.5
		n := &loopField{spec: spec, ticks: m.ticks, counts: m.counts}
		for i := range m.v {
			count := 1000 + 48*float64(i)
			n.v = append(n.v, [][]float64{{count}})
			for _, col := range []int{1, 2} {
				m.v[i][0][col] = 2 + before*1000/count
			}
		}
		r.fields[spec.Name] = n
		r.man.Fields = append(r.man.Fields, spec)
		if reset {
			r.event(dump.Event{Tick: 200, Kind: dump.EventReset, Envs: r.man.EnvIDs, Count: 48})
		}
		return r
	}
	c, _ := run(1.5, true).judge()
	assert.Equal(t, "part", c.feature(X8).Value, c.feature(X8).Text)
	_, d := run(0, true).judge()
	assert.Equal(t, Clean, d.Verdict, "always at that value")
	_, d = run(1.5, false).judge()
	assert.Equal(t, Clean, d.Verdict, "a reset may have drawn it")
}

// TestStuckReading: readings of one env that repeat themselves while it moves.
func TestStuckReading(t *testing.T) {
	repeat := func(field string, row, from int, cols ...int) *loopRun {
		r := newRun(80)
		f := r.fields[field]
		for i := from + 1; i < len(f.v); i++ {
			for _, col := range cols {
				f.v[i][row][col] = f.v[from][row][col]
			}
		}
		return r
	}
	c, d := repeat("obs.policy", 1, 40, 0, 1, 2).judge()
	assert.Equal(t, spikes, c.feature(X25).Value, c.feature(X25).Text)
	assert.Contains(t, c.feature(X25).Text, "of env 3 for")
	assert.Equal(t, 3, c.feature(X25).Env)
	assert.Equal(t, BadSensor, d.Verdict)
	assert.Contains(t, d.Causes[0].Fix, "time stamp")
	bound := repeat("obs.policy", 1, 40, 0, 1, 2)
	zeros := repeat("obs.policy", 1, 40, 0, 1, 2)
	other := repeat("obs.policy", 1, 40, 0, 1, 2)
	rests := repeat("obs.policy", 1, 40, 0, 1, 2)
	for i := range bound.fields["obs.policy"].v {
		for col := range 3 {
			other.set("obs.policy", i, 2, col, 0.4) // of another env the columns stand still as well
			if i >= 40 {
				bound.set("obs.policy", i, 1, col, 5)
				zeros.set("obs.policy", i, 1, col, 0)
			}
		}
	}
	zero := repeat("obs.policy", 1, 40, 0, 1, 2)
	for i := 40; i < 80; i++ {
		zero.set("obs.policy", i, 1, 1, 0)
	}
	seen := repeat("obs.policy", 1, 40, 0, 1, 2)
	seen.set("obs.policy", 20, 2, 1, seen.fields["obs.policy"].v[79][1][1])
	held := repeat("obs.policy", 1, 40, 0, 1, 2)
	for i := 40; i < 80; i++ {
		held.set("action", i, 1, 0, 0.7)
	}
	for i := range rests.fields["qvel"].v {
		rests.set("qvel", i, 1, 0, 0)
	}
	for name, r := range map[string]*loopRun{
		"two columns":         repeat("obs.policy", 1, 40, 0, 1),
		"a short time":        repeat("obs.policy", 1, 60, 0, 1, 2),
		"a bound":             bound,
		"zeros":               zeros,
		"a zero among them":   zero,
		"another env has one": seen,
		"another env's do":    other,
		"a part is at rest":   rests,
		"actions are held":    held,
		"speeds not recorded": repeat("obs.policy", 1, 40, 0, 1, 2).drop("qvel"),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}
