package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// statistics returns a run of 60 steps whose normalizer of eight columns, far from
// one another, is written over from step 40 on by what edit makes of it.
func statistics(edit func(mean, std []float64, i int)) *loopRun {
	const cols, steps = 8, 60
	r := newRun(steps)
	m, v := r.fields["normalizer.mean"], r.fields["normalizer.var"]
	for i := range m.v {
		mean, vari := make([]float64, cols), make([]float64, cols)
		for col := range cols {
			vari[col] = math.Exp(float64(2*col-7)) * (1 + 0.01*hash(302, i, col, 0))
			mean[col] = float64(col) + 0.01*math.Sqrt(vari[col])*hash(301, i, col, 0)
		}
		edit(mean, vari, i)
		m.v[i], v.v[i] = [][]float64{mean}, [][]float64{vari}
	}
	for _, n := range []string{"normalizer.mean", "normalizer.var"} {
		f := r.fields[n]
		f.spec.Cols = nil
	}
	return r
}

// from applies an edit from step 40 on.
func from(edit func(mean, vari []float64)) func(mean, vari []float64, i int) {
	return func(mean, vari []float64, i int) {
		if i >= 40 {
			edit(mean, vari)
		}
	}
}

// swapped exchanges the columns of all statistics in pairs.
func swapped(n int) func(mean, vari []float64) {
	return func(mean, vari []float64) {
		for col := 0; col+1 < n; col += 2 {
			mean[col], mean[col+1] = mean[col+1], mean[col]
			vari[col], vari[col+1] = vari[col+1], vari[col]
		}
	}
}

// each applies a function to each variance.
func each(f func(v float64) float64) func(mean, vari []float64) {
	return func(_, vari []float64) {
		for col, v := range vari {
			vari[col] = f(v)
		}
	}
}

// TestOverwritten is X19 for statistics that became those of other columns, or a
// power of themselves.
func TestOverwritten(t *testing.T) {
	for name, edit := range map[string]func(mean, vari []float64){
		"columns in another order": swapped(8),
		"a std for a variance":     each(math.Sqrt),
		"a variance for a std":     each(func(v float64) float64 { return v * v }),
		"a precision":              each(func(v float64) float64 { return 1 / v }),
	} {
		c, d := statistics(from(edit)).judge()
		assert.Equal(t, yes, c.feature(X19).Value, "%s: %s", name, c.feature(X19).Text)
		assert.Equal(t, NormalizerLost, d.Verdict, name)
	}
	c, _ := statistics(from(swapped(8))).event(dump.Event{Tick: 254, Kind: dump.EventCheckpointLoaded, Name: "resume"}).judge()
	assert.Contains(t, c.feature(X19).Text, "when a checkpoint was loaded")
	for name, edit := range map[string]func(mean, vari []float64, i int){
		"as it was":       from(func(_, _ []float64) {}),
		"in other units":  from(each(func(v float64) float64 { return 4 * v })),
		"two columns":     from(swapped(2)),
		"another robot's": from(func(mean, vari []float64) { each(func(v float64) float64 { return 3 * v })(mean, vari); mean[0] = 40 }),
		"all of one size": func(_, vari []float64, i int) { each(func(float64) float64 { return 1 + 0.01*float64(i) })(nil, vari) },
		"new, moving far": func(mean, vari []float64, i int) { swapped(8*(i%2))(mean, vari) },
		"by and by": func(_, vari []float64, i int) {
			each(func(v float64) float64 { return math.Pow(v, 1-float64(i)/120) })(nil, vari)
		},
		"from the start":   func(mean, vari []float64, _ int) { swapped(8)(mean, vari) },
		"one large column": from(func(_, vari []float64) { vari[7] = math.Sqrt(vari[7]) }),
	} {
		c, d := statistics(edit).judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X19).Text)
	}
}
