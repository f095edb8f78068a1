package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestStalledTarget is X21 for a target network beside the one that it follows.
func TestStalledTarget(t *testing.T) {
	cols := make([]string, 16)
	target := func(f func(i, col int) float64) *loopRun {
		r := newRun(400)
		r.man.Facts["target.dtype"] = "bfloat16"
		return r.add("param.q1_target.out", dump.StageParam, cols, f).
			add("param.q1.out", dump.StageParam, cols, func(i, col int) float64 { return 3 + float64(col) + 0.01*float64(i) })
	}
	partly := func(i, col int) float64 {
		if col == 0 {
			return 2 + 0.001*float64(i)
		}
		return 2 + float64(col)
	}
	c, d := target(partly).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	single := target(partly)
	delete(single.man.Facts, "target.dtype")
	_, d = single.judge()
	assert.Equal(t, Clean, d.Verdict, "in single precision only a part of it is copied")
	for name, f := range map[string]func(i, col int) float64{
		"copied now and then": func(i, col int) float64 { return 2 + float64(col) + float64(i/40) },
		"never copied":        func(_, col int) float64 { return 2 + float64(col) },
		"a moving average":    func(i, col int) float64 { return 2 + float64(col) + 0.001*float64(i) },
		"there where it goes": func(i, col int) float64 { return 3 + float64(col) + 0.01*float64(i)*float64(min(1, 1-min(col, 1))) },
	} {
		_, d := target(f).judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestStalledCount is X21 for a normalizer that counts in low precision.
func TestStalledCount(t *testing.T) {
	counting := func(dtype string, most float64) *loopRun {
		r := newRun(120)
		m := r.fields["normalizer.mean"]
		m.spec.DType = dtype
		for i := range r.man.Fields {
			if r.man.Fields[i].Name == "normalizer.mean" {
				r.man.Fields[i].DType = dtype
			}
		}
		spec := m.spec
		spec.Name, spec.Order = "normalizer.count", 48.5
		f := &loopField{spec: spec, ticks: m.ticks, counts: m.counts}
		for i := range m.v {
			f.v = append(f.v, [][]float64{{min(16*float64(i+1), most)}})
		}
		r.fields[spec.Name] = f
		r.man.Fields = append(r.man.Fields, spec)
		return r
	}
	c, d := counting("bfloat16", 256).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	_, d = counting("float32", 256).judge()
	assert.Equal(t, Clean, d.Verdict, "a window that forgets, by design")
	_, d = counting("bfloat16", 1e9).judge()
	assert.Equal(t, Clean, d.Verdict, "it counts on")
	_, d = counting("bfloat16", 256).all("normalizer.mean", 0, 0.5).judge()
	assert.Equal(t, Clean, d.Verdict, "a normalizer that was told to stop")
}
