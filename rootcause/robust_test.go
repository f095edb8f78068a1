package rootcause

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
	"github.com/nanguard/nanguard/tensor"
)

// weird bends a run in ways that only a damaged or foreign file has.
func weird(rng *rand.Rand) *loopRun {
	r := newRun(1 + rng.IntN(30))
	values := []float64{nan, inf, -inf, 0, -1, 1e30, 1e-30, 3e5}
	for range rng.IntN(12) {
		l := layout[rng.IntN(len(layout))]
		f := r.fields[l.name]
		if f == nil || len(f.v) == 0 {
			continue
		}
		switch rng.IntN(9) {
		case 0:
			r.drop(l.name)
		case 1:
			f.v, f.ticks = f.v[:1], f.ticks[:1]
		case 2:
			f.counts = nil
		case 3:
			f.spec.PerEnv = !f.spec.PerEnv
		case 4:
			f.spec.Cols = []string{"a"}
		case 5:
			r.traces[l.name] = &dump.Trace{Ticks: []int64{1, 2, 3}, NaN: []float64{0, 1}, AbsMax: []float64{1, nan, 1e12}, ArgMax: []float64{nan, -1, 1e9}}
		default:
			r.set(l.name, rng.IntN(len(f.v)), rng.IntN(len(f.v[0])), -1, values[rng.IntN(len(values))])
		}
	}
	switch rng.IntN(8) {
	case 0:
		r.man.EnvIDs = r.man.EnvIDs[:2]
	case 1:
		r.man.NumEnvs = 0
	case 2:
		r.untold = true
	case 3:
		r.man.Facts = nil
	case 4:
		r.man.Events = []dump.Event{{Kind: dump.EventGraphCapture}, {Kind: dump.EventReset, Envs: []int{-5, 7}}, {Kind: dump.EventNaNReplaced}, {Kind: dump.EventNote, Detail: 7}}
	case 5:
		r.model = &mjb.Model{Joints: []mjb.Joint{{DofAdr: 99, QposAdr: 99}}, Actuators: []mjb.Actuator{{Joint: 7}, {}}}
	case 6:
		r.format = "unilab"
	}
	return r
}

// TestNeverPanics: whatever a file holds, there is a diagnosis whose
// probabilities sum to one.
func TestNeverPanics(t *testing.T) {
	for seed := range uint64(500) {
		r := weird(rand.New(rand.NewPCG(seed, 1)))
		require.NotPanics(t, func() {
			c, err := NewCase(r)
			require.NoError(t, err)
			for p := range 3 {
				d := Diagnose(c, Options{Prior: Prior(p)})
				sum := 0.0
				for _, h := range d.Causes {
					assert.False(t, math.IsNaN(h.Probability) || h.Probability < 0, fmt.Sprint(seed))
					sum += h.Probability
				}
				if d.Verdict != Clean {
					require.InDelta(t, 1, sum, 1e-9, "seed %d", seed)
				}
				require.Len(t, d.Checklist, 10)
			}
		}, "seed %d", seed)
	}
}

// TestNeverPanicsWithAModel: states that are damaged beside a model that is not.
func TestNeverPanicsWithAModel(t *testing.T) {
	values := []float64{nan, inf, -inf, 0, 1e30, 3e5, -40}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		r := swing(60 * rng.Float64())
		f := r.fields[dump.StateField]
		for range rng.IntN(8) {
			f.v[rng.IntN(len(f.v))][0][rng.IntN(4)] = values[rng.IntN(len(values))]
		}
		r.model.Actuators = []mjb.Actuator{{Name: "knee", Joint: rng.IntN(4) - 1, Gear: 2, GainPrm0: 1, CtrlLimited: rng.IntN(2) > 0}}
		if rng.IntN(4) == 0 {
			f.v, f.ticks, f.counts, r.states.Steps = f.v[:2], f.ticks[:2], f.counts[:2], r.states.Steps[:2]
		}
		require.NotPanics(t, func() {
			_, d := r.judge()
			require.Len(t, d.Checklist, 10)
		}, "seed %d", seed)
	}
}

// TestWrongShape: an array that does not fit its ticks becomes a warning, and the
// other fields stay usable.
func TestWrongShape(t *testing.T) {
	a := wide(10, 3, 60)
	a.series["qvel"].Values = tensor.NewArray(tensor.Float32, 9, 3, 2)
	c, err := NewCase(a)
	require.NoError(t, err)
	d := Diagnose(c, DefaultOptions())
	assert.Contains(t, fmt.Sprint(d.Warnings), "field qvel: shape [9 3 2] does not match 10 ticks")
	assert.NotNil(t, c.byName["qacc"])
}

// TestNoManifest: nothing to diagnose is an error.
func TestNoManifest(t *testing.T) {
	_, err := NewCase(&empty{})
	assert.EqualError(t, err, "diagnose dump: no manifest")
}

// empty is a Source without a manifest.
type empty struct{ loopRun }

func (*empty) Manifest() *dump.Manifest { return nil }
