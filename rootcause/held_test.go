package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// hold makes a field of a run stand still from a frame on, each row at what value says.
func (r *loopRun) hold(name string, from int, value func(row int) float64) *loopRun {
	f := r.fields[name]
	for i := from; i < len(f.v); i++ {
		for row := range f.v[i] {
			for col := range f.v[i][row] {
				f.v[i][row][col] = value(row)
			}
		}
	}
	return r
}

// own is a value of each env, same one of all.
func own(row int) float64 { return 0.3 + 0.1*float64(row) }

func same(int) float64 { return 0.3 }

// resetAt resets all envs of the file at a step.
func (r *loopRun) resetAt(step int) *loopRun {
	return r.event(dump.Event{Tick: r.fields["reward"].ticks[step], Kind: dump.EventReset, Envs: r.man.EnvIDs, Count: len(r.man.EnvIDs)})
}

// TestHeld is X8 for controls and rewards that stand still.
func TestHeld(t *testing.T) {
	for name, r := range map[string]*loopRun{
		"controls":                    newRun(80).hold("ctrl", 160, own),
		"controls made by the policy": newRun(80).drop("ctrl").with("ctrl", dump.StagePolicy, func(i, row, col int) float64 { return hash(min(i, 30), row, col) - 0.5 }),
		"controls all the time":       newRun(80).hold("ctrl", 0, own).resetAt(40),
		"a reward over resets":        newRun(80).hold("reward.reach", 40, own).resetAt(60),
	} {
		c, d := r.judge()
		assert.Equal(t, yes, c.feature(X8).Value, "%s: %s", name, c.feature(X8).Text)
		assert.Equal(t, StaleGraph, d.Causes[0].ID, name)
	}
	for name, r := range map[string]*loopRun{
		"at a bound":                  newRun(80).hold("ctrl", 160, same),
		"a start that waits":          newRun(80).hold("ctrl", 0, own),
		"by the policy at a bound":    newRun(80).drop("ctrl").with("ctrl", dump.StagePolicy, func(i, _, col int) float64 { return hash(min(i, 30), 1, col) - 0.5 }),
		"for a moment":                newRun(80).hold("ctrl", 280, own),
		"of an object at rest":        newRun(80).hold("reward.reach", 40, own),
		"that nobody earns":           newRun(80).hold("reward.reach", 40, same).resetAt(60),
		"from the start":              newRun(80).hold("reward.reach", 0, own).resetAt(60),
		"by a policy that is at rest": newRun(80).hold("ctrl", 160, own).hold("action", 40, own),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X8).Text)
	}
}

// TestNeverFed is X19 for a normalizer that nobody updates.
func TestNeverFed(t *testing.T) {
	run := func(count, variance float64) *loopRun {
		r := newRun(80).all("normalizer.mean", 0, 0).all("normalizer.var", 0, variance).set("obs.policy.normalized", 20, 1, 0, 55)
		m := r.fields["normalizer.mean"]
		spec := m.spec
		spec.Name, spec.Order = "normalizer.count", 48.5
		f := &loopField{spec: spec, ticks: m.ticks, counts: m.counts}
		for range m.v {
			f.v = append(f.v, [][]float64{{count}})
		}
		r.fields[spec.Name] = f
		r.man.Fields = append(r.man.Fields, spec)
		return r
	}
	c, d := run(0, 1).judge()
	assert.Equal(t, yes, c.feature(X19).Value, c.feature(X19).Text)
	assert.Equal(t, NormalizerLost, d.Verdict)
	off := run(0, 1)
	off.man.Facts["normalizer.enabled"] = false
	for name, r := range map[string]*loopRun{
		"frozen by design": run(5e6, 1),
		"loaded":           run(0, 3),
		"not in use":       off,
		"not learning":     run(0, 1).drop("loss.total"),
		"not needed":       run(0, 1).set("obs.policy.normalized", 20, 1, 0, 5),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X19).Text)
	}
}

// TestTwiceNormalized is X19 for observations that are normalized twice.
func TestTwiceNormalized(t *testing.T) {
	run := func(of func(x, mean, std float64) float64) *loopRun {
		r := newRun(60)
		o, z, m, v := r.fields["obs.policy"], r.fields["obs.policy.normalized"], r.fields["normalizer.mean"], r.fields["normalizer.var"]
		z.ticks = o.ticks
		for i := range o.v {
			for col := range m.v[i][0] {
				m.v[i][0][col], v.v[i][0][col] = float64(col), 0.04
				for row := range o.v[i] {
					z.v[i][row][col] = of(o.v[i][row][col], float64(col), 0.2+0.01)
				}
			}
		}
		return r
	}
	once := func(x, mean, std float64) float64 { return (x - mean) / std }
	c, d := run(func(x, mean, std float64) float64 { return once(once(x, mean, std), mean, std) }).judge()
	assert.Equal(t, yes, c.feature(X19).Value, c.feature(X19).Text)
	assert.Equal(t, NormalizerLost, d.Verdict)
	for name, f := range map[string]func(x, mean, std float64) float64{
		"once":        once,
		"clipped":     func(x, mean, std float64) float64 { return max(-5, min(5, once(x, mean, std))) },
		"scaled":      func(x, mean, std float64) float64 { return 5 * once(x, mean, std) },
		"not at all":  func(x, _, _ float64) float64 { return x },
		"by the mean": func(x, mean, _ float64) float64 { return x - mean },
	} {
		c, d := run(f).judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X19).Text)
	}
}
