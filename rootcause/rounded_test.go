package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// inHalf rounds to half precision of either kind.
func inHalf(v float64, dtype string) float64 {
	if v == 0 {
		return 0
	}
	u := lastPlace(v, dtype)
	return math.RoundToEven(v/u) * u
}

// TestCountStops is X21 for a count of half precision that can go no further.
func TestCountStops(t *testing.T) {
	count := func(dtype string, from, by, most float64) *loopRun {
		at := []float64{from}
		for len(at) < 80 {
			at = append(at, min(most, inHalf(at[len(at)-1]+by, dtype)))
		}
		return newRun(80).addEnvs("obs.phase_time", dump.StageObs, dtype, func(i, _ int) float64 { return at[i] })
	}
	for _, r := range []*loopRun{count("float16", 1010, 0.5, 1e9), count("bfloat16", 236, 1, 1e9)} {
		c, d := r.judge()
		assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
		assert.Equal(t, PrecisionLoss, d.Verdict)
	}
	for name, r := range map[string]*loopRun{
		"goes on":         count("float16", 10, 0.5, 1e9),
		"at a limit":      count("float16", 1000, 0.5, 1010),
		"single":          count("float32", 1010, 0.5, 1024),
		"stood all along": count("float16", 1024, 0.5, 1e9),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestTwinGoesOn is X21 for a position of half precision beside the same in single.
func TestTwinGoesOn(t *testing.T) {
	drive := func(dtype string, from, speed float64) *loopRun {
		at := func(i, row int) float64 { return from + speed*float64(i) + 0.1*float64(row) }
		return newRun(80).addEnvs("obs.position_f32", dump.StageObs, "float32", at).
			addEnvs("obs.position", dump.StageObs, dtype, func(i, row int) float64 { return inHalf(at(i, row), dtype) })
	}
	c, d := drive("bfloat16", 700, 0.3).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	for name, r := range map[string]*loopRun{
		"near":        drive("bfloat16", 7, 0.003),
		"more digits": drive("float16", 700, 0.3),
		"parked":      drive("bfloat16", 700, 0.001),
		"fast":        drive("bfloat16", 600, 3),
		"no twin":     drive("bfloat16", 700, 0.3).drop("obs.position_f32"),
	} {
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}

// TestPinned is X17 for speeds that a clamp puts back.
func TestPinned(t *testing.T) {
	run := func(value func(i, col int, v float64) float64) *loopRun {
		r := newRun(60)
		f := r.fields["qvel"]
		for i := range f.v {
			for col, v := range f.v[i][1] {
				f.v[i][1][col] = value(i, col, v)
			}
		}
		return r
	}
	clamped := func(i, col int, v float64) float64 {
		if (i+col)%2 == 0 {
			return math.Copysign(50, v)
		}
		return v
	}
	c, d := run(clamped).judge()
	assert.Equal(t, "shown", c.feature(X17).Value, c.feature(X17).Text)
	assert.Equal(t, Masked, d.Causes[0].ID)
	for name, value := range map[string]func(i, col int, v float64) float64{
		"glides":      func(_, _ int, _ float64) float64 { return 50 },
		"fast":        func(_, _ int, v float64) float64 { return 10 * v },
		"as others":   func(i, col int, v float64) float64 { return clamped(i, col, v) / 9 },
		"in one axis": func(i, col int, v float64) float64 { return v + (clamped(i, col, v)-v)*float64(max(0, 1-col)) },
		"now and then": func(i, col int, v float64) float64 {
			if i%40 == 0 {
				return math.Copysign(50, v)
			}
			return v
		},
	} {
		_, d := run(value).judge()
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
