package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestNeverWritten is X18 for a replay buffer: samples of which all is NaN, and
// samples of which a formula spoiled one part.
func TestNeverWritten(t *testing.T) {
	replay := func(rewards ...int) *loopRun {
		r := newRun(200)
		last := len(r.fields["loss.total"].v) - 1
		batch := func(bad ...int) func(i, col int) float64 {
			return func(i, col int) float64 {
				for _, b := range bad {
					if i == last && col == b {
						return nan
					}
				}
				return 1 + 0.1*hash(i, col)
			}
		}
		cols := make([]string, 32)
		return r.add("obs.batch", dump.StageObs, cols, batch(4, 19)).add("reward.batch", dump.StageReward, cols, batch(rewards...)).
			set("loss.total", -1, 0, 0, nan)
	}
	c, d := replay(4, 19).judge()
	assert.Equal(t, "unwritten", c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Causes[0].ID)
	for _, other := range [][]int{{4}, {5, 19}, {}} {
		c, _ = replay(other...).judge()
		assert.NotEqual(t, "unwritten", c.feature(X18).Value, "%v", other)
	}
}

// TestFlagNeverWritten is X18 where the reward and the flag of the same sample are NaN:
// no formula spoils both, and a flag that is fine says nothing, for most hold no NaN.
func TestFlagNeverWritten(t *testing.T) {
	replay := func(bad ...int) *loopRun {
		r, cols := newRun(200), make([]string, 32)
		last := len(r.fields["loss.total"].v) - 1
		r.add("reward.batch", dump.StageReward, cols, func(i, col int) float64 { return 1 + 0.1*hash(i, col) }).set("reward.batch", last, 0, 4, nan).
			add("done.batch", dump.StageDone, cols, func(i, col int) float64 { return 0 })
		for _, col := range bad {
			r.set("done.batch", last, 0, col, nan)
		}
		return r.set("loss.total", -1, 0, 0, nan)
	}
	c, d := replay(4).judge()
	assert.Equal(t, "unwritten", c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Verdict)
	for name, r := range map[string]*loopRun{
		"a reward alone":          replay(),
		"a flag of another":       replay(5),
		"more flags than rewards": replay(4, 5),
	} {
		c, d := r.judge()
		assert.NotEqual(t, "unwritten", c.feature(X18).Value, name)
		assert.NotEqual(t, PaddingRows, d.Verdict, name)
	}
}

// TestAllOver is X18 where every row of the file ends in the very record in which
// it goes bad: what was not finite may be what ended them.
func TestAllOver(t *testing.T) {
	ended := func(rows int) *loopRun {
		r := newRun(40)
		for row := range r.man.EnvIDs {
			if row < rows {
				r.set("done", -3, row, 0, 1).set("reward", -3, row, 0, nan)
			}
		}
		return r
	}
	c, _ := ended(5).judge()
	assert.Equal(t, "all", c.feature(X18).Value, c.feature(X18).Text)
	c, d := ended(3).judge()
	assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
	assert.Contains(t, causesOf(&d), PaddingRows)
}

// TestTerminatedForNaN is X17: a termination for a NaN of the state in the record
// in which the reward is NaN says that the state was, and that it is gone.
func TestTerminatedForNaN(t *testing.T) {
	run := func(said float64) *loopRun {
		r := newRun(40).drop(physicsFields...).set("done", -3, 0, 0, 1).set("reward", -3, 0, 0, nan)
		d := r.fields["done"]
		spec := d.spec
		spec.Name, spec.Order = "termination.nan_guard", 28
		f := &loopField{spec: spec, ticks: d.ticks, counts: d.counts}
		for i := range d.v {
			f.v = append(f.v, nil)
			for range d.v[i] {
				f.v[i] = append(f.v[i], []float64{0})
			}
		}
		f.v[len(f.v)-3][0][0] = said
		r.fields[spec.Name] = f
		r.man.Fields = append(r.man.Fields, spec)
		return r
	}
	c, d := run(1).judge()
	assert.Equal(t, yes, c.feature(X17).Value, c.feature(X17).Text)
	assert.Equal(t, Masked, d.Causes[0].ID)
	c, _ = run(0).judge()
	assert.Equal(t, no, c.feature(X17).Value, c.feature(X17).Text)
}

// TestNeverFilled is X18 for a replay buffer that is drawn from beyond its size:
// most samples are zeros, and what is collected never is.
func TestNeverFilled(t *testing.T) {
	replay := func(reward func(i, col int) float64, share int) *loopRun {
		cols := make([]string, 32)
		full := func(i, col int) bool { return int(50+50*hash(901, i, col)) >= share }
		run := newRun(200)
		run.man.Facts["replay.size"], run.man.Facts["replay.capacity"] = 2000.0, 40000.0
		return run.add("obs.batch", dump.StageObs, cols, func(i, col int) float64 {
			if !full(i, col) {
				return 0
			}
			return 1 + 0.1*hash(i, col)
		}).add("reward.batch", dump.StageReward, cols, func(i, col int) float64 {
			if !full(i, col) {
				return 0
			}
			return reward(i, col)
		})
	}
	dense := func(i, col int) float64 { return 2 + hash(i, col) }
	c, d := replay(dense, 90).judge()
	assert.Equal(t, "unwritten", c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Verdict)
	assert.Contains(t, d.Causes[0].Fix, "not below its capacity")
	assert.Contains(t, c.feature(X18).Text, "it holds 2e3 of 4e4")
	full, unsaid := replay(dense, 90), replay(dense, 90)
	full.man.Facts["replay.size"] = 40000.0
	delete(unsaid.man.Facts, "replay.size")
	for name, r := range map[string]*loopRun{
		"a buffer that is filled":   replay(dense, 0),
		"padding, nothing is empty": full,
		"padding, as it may be":     unsaid,
		"absorbing states":          replay(dense, 10),
		"sparse rewards":            replay(func(i, col int) float64 { return float64(col % 2) }, 90),
		"rewards that are rare":     replay(dense, 90).all("reward", 100, 0),
		"an observation of zeros":   replay(dense, 90).set("obs.policy", 100, 0, 0, 0).set("obs.policy", 100, 0, 1, 0).set("obs.policy", 100, 0, 2, 0).set("obs.policy", 100, 0, 3, 0).set("obs.policy", 100, 0, 4, 0),
		"steps that a mask leaves":  replay(dense, 90).add("batch.mask", dump.StageMonitor, make([]string, 32), func(int, int) float64 { return 1 }),
		"sequences of a recurrence": replay(dense, 90).add("hidden.actor", dump.StagePolicy, make([]string, 32), func(i, col int) float64 { return hash(i, col) }),
		"an update of one training": replay(dense, 90).keepLast("obs.batch", 8).keepLast("reward.batch", 8),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X18).Text)
	}
}
