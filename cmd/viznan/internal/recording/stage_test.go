package recording_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording/recordtest"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

// TestStages: each class stands with the tick at which the values were of it.
func TestStages(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		values []float64 // at ticks 10, 11, ...; two columns side by side
		before *rootcause.Onset
		want   []recording.Stage
	}{
		{"ordinary", []float64{1, 2, 3, 4}, nil, nil},
		{"huge, then NaN", []float64{1, 1, -5.7e26, 1, nan, 1}, nil, []recording.Stage{{Tick: 11, Class: "huge"}, {Tick: 12, Class: "nan"}}},
		{"the first column that is bad", []float64{1, 1, inf, nan}, nil, []recording.Stage{{Tick: 11, Class: "posinf"}}},
		{"only below zero", []float64{1, -inf}, nil, []recording.Stage{{Tick: 10, Class: "neginf"}}},
		{"huge after NaN is no news", []float64{nan, 1, 1e20, 1}, nil, []recording.Stage{{Tick: 10, Class: "nan"}}},
		{"huge beside NaN", []float64{1e20, nan}, nil, []recording.Stage{{Tick: 10, Class: "nan"}}},
		{
			"all three",
			[]float64{1, 1, 9, 9, 1e12, 1, nan, nan},
			&rootcause.Onset{Class: "growing", Tick: 11},
			[]recording.Stage{{11, "growing", true}, {Tick: 12, Class: "huge"}, {Tick: 13, Class: "nan"}},
		},
		{"huge by the diagnosis first", []float64{1, 1, 1e9, 1, 1e12, 1}, &rootcause.Onset{Class: "huge", Tick: 11}, []recording.Stage{{11, "huge", true}}},
		{"a precursor alone", []float64{1, 1, -1, 1}, &rootcause.Onset{Class: "negative", Tick: 11}, []recording.Stage{{11, "negative", true}}},
		{"not finite in the diagnosis", []float64{1, 1}, &rootcause.Onset{Class: "nan", Tick: 10}, nil},
	} {
		s := &recordtest.Source{M: dump.Manifest{EnvIDs: []int{3, 4}}}
		ticks := recordtest.Ticks(10, 9+int64(len(c.values)/2), 1)
		s.Add(dump.FieldSpec{Name: "x", PerEnv: true}, []string{"a", "b"}, ticks, func(f, row, col int) float64 {
			return []float64{c.values[2*f+col], 0}[row]
		})
		r := load(s)
		if c.before != nil {
			env := 3
			c.before.Field, c.before.Env = "x", &env
			r.Diagnose(&rootcause.Diagnosis{Order: []rootcause.Onset{*c.before}})
		}
		assert.Equal(t, c.want, r.Stages(r.Fields[0], 3), c.name)
		assert.Empty(t, r.Stages(r.Fields[0], 4), "%s: the other env is well", c.name)
		assert.Empty(t, r.Stages(r.Fields[0], 5), "%s: not in the file", c.name)
	}
}

// TestStagesOfATrace: a trace tells what was bad by its counts.
func TestStagesOfATrace(t *testing.T) {
	s := recordtest.Sample()
	tr := s.Traces["ncon"]
	tr.PosInf[5], tr.NaN[6], tr.AbsMax[2] = 1, 1, 1e11
	r := load(s)
	assert.Equal(t, []recording.Stage{{Tick: -18, Class: "huge"}, {Tick: -15, Class: "posinf"}}, r.Stages(r.Fields[0], 14))
}

// TestTraceOfAFieldOfTheWholeRun: where there are no envs, none holds the
// largest value.
func TestTraceOfAFieldOfTheWholeRun(t *testing.T) {
	labels := func(perEnv bool) (list []string) {
		s := recordtest.Sample()
		for i := range s.M.Fields {
			if s.M.Fields[i].Name == "ncon" {
				s.M.Fields[i].PerEnv = perEnv
			}
		}
		f := load(s).Fields[0]
		track, isTrace := f.Track(true)
		assert.True(t, isTrace)
		for c := range track.Cols() {
			list = append(list, f.Label(c, true))
		}
		return list
	}
	assert.Equal(t, []string{"nan", "posinf", "neginf", "absmax", "argmax env", "min", "max", "mean"}, labels(true))
	assert.Equal(t, []string{"nan", "posinf", "neginf", "absmax", "min", "max", "mean"}, labels(false))
}
