package recordtest

import (
	"errors"
	"math"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

func ptr[T any](v T) *T { return &v }

// Ticks returns first, first+step, ... up to last.
func Ticks(first, last, step int64) []int64 {
	var t []int64
	for v := first; v <= last; v += step {
		t = append(t, v)
	}
	return t
}

// Sample is a run of 48 envs whose physics diverges in env 14: qvel grows
// threefold a substep from tick 33, the first NaN is in qacc[root vx] at tick
// 44, the reward follows at tick 47. Env 30 and 40 are controls. Substeps have
// every tick but each fifth from 5 to 45, which is the env step's, and stand
// at 1 to 46.
func Sample() *Source {
	s := &Source{File: "runs/nan_dump_20261201_043835.npz", M: dump.Manifest{
		Format: "nanguard-dump", Version: 1,
		Producer: dump.Producer{Name: "mjlab", Version: "1.6.0"},
		NumEnvs:  48, EnvIDs: []int{30, 14, 40},
		EnvRoles: []dump.Role{dump.RoleControl, dump.RoleCulprit, dump.RoleControl},
		Trip:     &dump.Trip{Tick: 44, Clock: "substep", Count: 36, Field: "qacc", Env: ptr(14), Col: 0, Class: "nan"},
		FirstBad: []dump.FirstBad{
			{Field: "qacc", Tick: 44, Clock: "substep", Count: 36, Env: ptr(14), Class: "nan", EnvsBad: 1},
			{Field: "qvel", Tick: 44, Clock: "substep", Count: 36, Env: ptr(14), Class: "nan", EnvsBad: 1},
			{Field: "reward", Tick: 47, Clock: "step", Count: 9, Env: ptr(14), Class: "neginf", EnvsBad: 1},
		},
		Events: []dump.Event{
			{Tick: 0, Kind: dump.EventDR, Name: "actuator_gainprm", Envs: []int{14}, Count: 1},
			{Tick: 5, Kind: dump.EventReset, Envs: []int{14}, Count: 1},
			{Tick: 17, Kind: dump.EventReset, Envs: []int{30}, Count: 3},
			{Tick: 20, Kind: dump.EventGraphCapture, Name: "physics"},
		},
	}}
	s.addFields()
	s.Doubts = []error{errors.New("model.mjb is not beside the dump")}
	return s
}

// dofs are the columns of the physics fields.
var dofs = []string{"root vx", "root vy", "root vz", "left_hip", "left_knee", "right_hip", "right_knee", "right_ankle"}

func (s *Source) addFields() {
	var substeps []int64
	for _, t := range Ticks(1, 46, 1) {
		if t%5 != 0 {
			substeps = append(substeps, t)
		}
	}
	wave := func(frame, row, col int) float64 { return math.Sin(float64(frame)/4 + float64(row) + float64(col)/2) }
	grow := func(frame, row, col int, size float64) float64 {
		if f := frame - 26; row == 1 && f > 0 { // from tick 33
			size *= math.Pow(3, float64(f)) / (1 + float64(col))
		}
		return size * wave(frame, row, col)
	}
	physics := func(name string, order float64) dump.FieldSpec {
		return dump.FieldSpec{Name: name, Stage: dump.StagePhysics, Clock: dump.ClockSubstep, Order: order, DType: "float32", PerEnv: true}
	}
	bad := len(substeps) - 2 // tick 44
	s.Add(physics("qvel", 16), dofs, substeps, func(f, r, c int) float64 {
		if r == 1 && f >= bad && c < 5 {
			return math.NaN()
		}
		return grow(f, r, c, 0.5)
	})
	s.Add(physics("qacc", 15), dofs, substeps, func(f, r, c int) float64 {
		switch {
		case r == 1 && f >= bad && c%2 == 0:
			return math.NaN()
		case r == 1 && f >= bad && c == 3:
			return math.Inf(1)
		case r == 1 && f == bad-1 && c == 1:
			return -3e12
		}
		return grow(f, r, c, 20)
	})
	s.Add(dump.FieldSpec{Name: "reward", Stage: dump.StageReward, Clock: dump.ClockStep, Order: 35, DType: "float32", PerEnv: true},
		[]string{""}, append(Ticks(5, 45, 5), 47), func(f, r, c int) float64 {
			if r == 1 && f == 9 {
				return math.Inf(-1)
			}
			return 0.1 * wave(f, r, c)
		})
	s.Add(dump.FieldSpec{Name: "normalizer.var", Stage: dump.StageNormalizer, Clock: dump.ClockStep, Order: 49, DType: "float32"},
		[]string{"base_lin_vel[0]", "base_lin_vel[1]"}, Ticks(5, 45, 5), func(f, _, c int) float64 { return 1 + float64(f+c)/10 })
	s.addTrace()
}

// addTrace adds a field of which the file holds a trace only.
func (s *Source) addTrace() {
	tr := &dump.Trace{Ticks: Ticks(-20, 46, 1)}
	for i := range tr.Ticks {
		tr.Counts = append(tr.Counts, int64(i))
		for _, col := range []*[]float64{&tr.NaN, &tr.PosInf, &tr.NegInf, &tr.ArgMax, &tr.Min, &tr.Mean} {
			*col = append(*col, 0)
		}
		tr.AbsMax, tr.Max = append(tr.AbsMax, float64(i)), append(tr.Max, float64(i))
	}
	s.Traces = map[string]*dump.Trace{"ncon": tr}
	s.M.Fields = append(s.M.Fields, dump.FieldSpec{Name: "ncon", Stage: dump.StageSolver, Clock: dump.ClockSubstep, Order: 11, DType: "int32", PerEnv: true})
}

// Diagnosis is what rootcause would say of Sample.
func Diagnosis() *rootcause.Diagnosis {
	env := ptr(14)
	bad := rootcause.Onset{Field: "qacc", Env: env, Col: 0, Column: "root vx", Tick: 44, Clock: "substep", Count: 36, Class: "nan", Envs: 1}
	root := rootcause.Onset{Field: "qvel", Env: env, Col: 4, Column: "left_knee", Tick: 38, Clock: "substep", Count: 31, Class: "growing", Envs: 1}
	d := &rootcause.Diagnosis{
		Verdict: "contact-divergence", Coverage: 0.6, FirstBad: &bad, Root: &root,
		Order: []rootcause.Onset{root, bad},
		Causes: []rootcause.Hypothesis{
			{ID: "contact-divergence", Title: "contact or constraint solver diverges", Probability: 0.87, Evidence: []rootcause.Evidence{
				{Feature: "F1", Text: "the first non-finite value is in qacc of env 14 while its inputs were finite", Weight: 2.05, Favours: "contact-divergence", Field: "qacc", Env: env, Col: ptr(0), Tick: ptr(int64(44))},
				{Feature: "F2", Text: "qvel[left_knee] grew threefold a substep over 8 substeps", Weight: 1.9, Favours: "contact-divergence", Field: "qvel", Env: env, Col: ptr(4), Tick: ptr(int64(38))},
				{Feature: "F8", Text: "1 of 48 envs is bad", Weight: -0.4},
			}, Fix: "halve the timestep, or use solref 0.02 1 and condim 4"},
			{ID: "bad-model", Title: "asset, armature, gains or limits invalid", Probability: 0.09, Fix: "check the gains"},
			{ID: "stale-graph", Title: "CUDA graph or buffer stale", Probability: 0.02},
			{ID: "reward-overflow", Title: "division by zero or overflow in a reward term", Probability: 0.01},
			{ID: "unknown", Title: "none of these explains what is recorded", Probability: 0.01},
		},
		Next:     []rootcause.Action{{Text: "run again with sim.timestep 0.0025", Row: 5}},
		Warnings: []string{"no reward term was recorded one by one"},
	}
	for i, name := range []string{
		"division in a reward", "action scale too large", "normalizer warmed up", "actuator gains sane", "timestep too large",
		"solver iterations enough", "nconmax, njmax enough", "contact parameters", "policy std parameterisation", "CUDA graph valid",
	} {
		c := rootcause.Check{Row: i + 1, Check: name, Status: rootcause.Unknown, Evidence: "nothing of it was recorded", Fix: "record it"}
		switch i {
		case 0, 2, 8:
			c.Status, c.Evidence = rootcause.Cleared, "every value stayed finite and near its median"
		case 4:
			c.Status, c.Evidence, c.Fix = rootcause.Implicated, "0.02 s with contacts", "try 0.005 s and decimation 4"
		}
		d.Checklist = append(d.Checklist, c)
	}
	return d
}
