package rootcause

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// batches adds a batch of values with a mask beside it: in the last record the
// samples in bad are NaN, and the mask is one for those in set.
func (r *loopRun) batches(mask string, bad, set []int) *loopRun {
	last := len(r.fields["loss.total"].v) - 1
	return r.add("value.batch", dump.StageValue, make([]string, 64), func(i, col int) float64 {
		if i == last && slices.Contains(bad, col/2) {
			return nan
		}
		return hash(i, col)
	}).add(mask, dump.StageMonitor, make([]string, 32), func(i, col int) float64 {
		if i == last && slices.Contains(set, col) {
			return 1
		}
		return 0
	}).set("loss.total", -1, 0, 0, nan)
}

// TestMaskedSamples: samples of a batch that are NaN where a mask of any name says
// that nobody should read them; a mask that differs by one, or that was made from the
// NaN, says nothing.
func TestMaskedSamples(t *testing.T) {
	c, d := newRun(60).batches("seg.split", []int{3, 17, 30}, []int{3, 17, 30}).judge()
	assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Verdict)

	others := []int{}
	for i := range 32 {
		if i != 3 && i != 17 {
			others = append(others, i)
		}
	}
	c, _ = newRun(60).batches("weight", []int{3, 17}, others).judge()
	assert.Equal(t, yes, c.feature(X18).Value, "a mask of what counts")

	c, _ = newRun(60).batches("seg.split", []int{3, 17, 30}, []int{3, 17, 31}).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "another sample")
	c, _ = newRun(60).batches("seg.split", []int{3, 17, 30}, []int{3, 17}).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "one more is bad")
	c, _ = newRun(60).batches("nan_mask", []int{3, 17, 30}, []int{3, 17, 30}).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "it was made from the NaN")
}

// TestRowsOfAFlag: rows that are NaN exactly where a flag of the task's own is set, and
// fine where the episode ended otherwise.
func TestRowsOfAFlag(t *testing.T) {
	run := func(flag string, rows ...int) *loopRun {
		r := newRun(60).set("done", -3, 0, 0, 1).set("value", -2, 3, 0, nan).set("value", -2, 1, 0, nan)
		last := len(r.fields["value"].v) - 2
		spec := r.fields["value"].spec
		spec.Name, spec.Stage, spec.Order = flag, dump.StageDone, 64.5
		f := &loopField{spec: spec, ticks: r.fields["value"].ticks, counts: r.fields["value"].counts}
		for i := range r.fields["value"].v {
			frame := make([][]float64, len(r.man.EnvIDs))
			for row := range frame {
				frame[row] = []float64{0}
				if i == last && slices.Contains(rows, row) {
					frame[row][0] = 1
				}
			}
			f.v = append(f.v, frame)
		}
		r.fields[flag] = f
		r.man.Fields = append(r.man.Fields, spec)
		return r
	}
	c, d := run("truncated", 1, 3).judge()
	assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
	assert.Equal(t, PaddingRows, d.Causes[0].ID)
	c, _ = run("truncated", 1, 4).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "another row")
	c, _ = run("termination.nan", 1, 3).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "it was made from the NaN")
}

// TestMaskByEnv: steps of sequences that are NaN exactly where a mask with a row for each
// env of the file says so, in a batch that holds every env of the run, in either order.
func TestMaskByEnv(t *testing.T) {
	const steps = 6
	run := func(at func(env, step int) int, masked func(row, step int) bool, bad func(env, step int) bool) *loopRun {
		r := newRun(60)
		end := len(r.fields["loss.total"].v) - 1
		r.add("log_ratio.seq", dump.StageLoss, make([]string, steps*r.man.NumEnvs), func(i, col int) float64 {
			for env := range r.man.NumEnvs {
				for s := range steps {
					if i == end && at(env, s) == col && bad(env, s) {
						return nan
					}
				}
			}
			return 0.1 * hash(i, col)
		})
		r.add("mask.valid", dump.StageDone, make([]string, steps), func(int, int) float64 { return 1 })
		f, spec := r.fields["mask.valid"], &r.man.Fields[len(r.man.Fields)-1]
		spec.PerEnv, f.spec.PerEnv = true, true
		for i := range f.v {
			f.v[i] = nil
			for row := range r.man.EnvIDs {
				v := make([]float64, steps)
				for s := range v {
					if v[s] = 1; masked(row, s) {
						v[s] = 0
					}
				}
				f.v[i] = append(f.v[i], v)
			}
		}
		return r.set("loss.total", -1, 0, 0, nan).set("grad_norm", -1, 0, 0, nan)
	}
	envMajor := func(env, s int) int { return env*steps + s }
	stepMajor := func(env, s int) int { return s*48 + env }
	late := func(row, s int) bool { return row == 2 && s >= 3 } // env 11
	for _, at := range []func(env, s int) int{envMajor, stepMajor} {
		c, d := run(at, late, func(env, s int) bool { return env == 11 && s >= 3 || env == 12 }).judge()
		assert.Equal(t, yes, c.feature(X18).Value, c.feature(X18).Text)
		assert.Equal(t, PaddingRows, d.Verdict)
		c, _ = run(at, late, func(env, s int) bool { return env == 11 && s >= 2 }).judge()
		assert.NotEqual(t, yes, c.feature(X18).Value, "one step more")
		c, _ = run(at, late, func(env, s int) bool { return env == 20 && s >= 3 }).judge()
		assert.NotEqual(t, yes, c.feature(X18).Value, "another env")
	}
	all := func(int, int) bool { return true }
	c, _ := run(envMajor, all, all).judge()
	assert.NotEqual(t, yes, c.feature(X18).Value, "every step of every env")
}
