package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
	"github.com/nanguard/nanguard/tensor"
)

// version is a way in which a dump is looked at.
type version struct {
	name, what string
	view       func(rootcause.Source) rootcause.Source // nil where the dump has nothing that would be left
}

// versions are the dump as it is, and what others would have of it.
var versions = []version{
	{"full", "all fields", func(s rootcause.Source) rootcause.Source { return s }},
	{"mjlab", "what mjlab's own guard keeps: the states before each step", statesOnly},
	{"rsl-rl", "what a hook in RSL-RL sees: observations, policy, rewards, losses; no physics, no single terms", only(learnerFields)},
	{"sb3", "what a callback of Stable-Baselines3 sees: observations, actions, the reward, losses", only(callbackFields)},
	{"10-frames", "the last ten frames of each field, and no traces", lastFrames(10)},
	{"3-envs", "three envs of the run", fewEnvs(3)},
	{"float16", "frames stored in half precision", halves},
	{"one-rank", "one rank of four: the one that tripped", oneRank(4)},
}

// learnerFields reports whether RSL-RL's runner has a field.
func learnerFields(s dump.FieldSpec) bool {
	switch s.Stage {
	case dump.StageModel, dump.StageSolver, dump.StagePhysics, dump.StageSensor:
		return false
	case dump.StageReward:
		return s.Name == "reward"
	}
	return true
}

// callbackFields reports whether a callback of Stable-Baselines3 has a field.
func callbackFields(s dump.FieldSpec) bool {
	switch s.Stage {
	case dump.StageObs, dump.StageLoss, dump.StageDone, dump.StageValue:
		return true
	}
	return s.Name == "reward" || s.Name == "action" || s.Name == "log_prob" || s.Name == "policy.std"
}

// view is a source that shows less than another.
type view struct {
	rootcause.Source
	man    dump.Manifest
	format string
	frames int   // of each field at most; 0 for all
	rows   []int // of per-env fields; nil for all
	half   bool
	traces bool
	states bool
	info   *dump.StateInfo // instead of the source's, when not nil
}

// see returns a view of all of a source.
func see(s rootcause.Source) *view {
	v := &view{Source: s, man: *s.Manifest(), format: s.Format(), traces: true, states: true}
	v.man.Fields = slices.Clone(v.man.Fields)
	v.man.FirstBad = slices.Clone(v.man.FirstBad)
	return v
}

// retrip finds the trip among what is left.
func (v *view) retrip(keep func(dump.FirstBad) bool) {
	left := map[string]dump.FieldSpec{}
	for _, f := range v.man.Fields {
		left[f.Name] = f
	}
	v.man.FirstBad = slices.DeleteFunc(v.man.FirstBad, func(b dump.FirstBad) bool {
		_, ok := left[b.Field]
		return !ok || keep != nil && !keep(b)
	})
	v.man.Trip = nil
	for _, b := range v.man.FirstBad {
		if left[b.Field].Stage == dump.StageMonitor {
			continue
		}
		if t := v.man.Trip; t == nil || b.Tick < t.Tick || b.Tick == t.Tick && left[b.Field].Order < left[t.Field].Order {
			v.man.Trip = &dump.Trip{Tick: b.Tick, Clock: b.Clock, Count: b.Count, Field: b.Field, Env: b.Env, Col: b.Col, Class: b.Class}
		}
	}
}

// only keeps the fields that one would have.
func only(has func(dump.FieldSpec) bool) func(rootcause.Source) rootcause.Source {
	return func(s rootcause.Source) rootcause.Source {
		if !strings.HasPrefix(s.Format(), "nanguard") {
			return nil
		}
		v := see(s)
		v.states = false
		v.man.Fields = slices.DeleteFunc(v.man.Fields, func(f dump.FieldSpec) bool { return !has(f) || f.Name == dump.StateField })
		v.retrip(nil)
		return v
	}
}

// statesOnly keeps the states, as a guard that checks nothing but those would.
func statesOnly(s rootcause.Source) rootcause.Source {
	if s.States() == nil || !strings.HasPrefix(s.Format(), "nanguard") {
		return nil
	}
	v := see(s)
	v.format, v.traces = "mjlab-v4", false
	last, fired := lastState(s, v.man.FirstBad)
	if !fired {
		return nil
	}
	v.info = cutStates(s.States(), last)
	if len(v.info.Steps) == 0 {
		return nil // it had nothing to keep
	}
	v.man.Fields = slices.DeleteFunc(v.man.Fields, func(f dump.FieldSpec) bool { return f.Name != dump.StateField })
	v.man.Trip, v.man.FirstBad, v.man.Events, v.man.Facts = nil, nil, nil, nil
	v.man.Run.Exception = ""
	return v
}

// lastState returns the number of the last state that mjlab's guard would have
// kept: the one before the substep after which it found the physics non-finite.
// ok is false when it would not have fired at all.
func lastState(s rootcause.Source, bad []dump.FirstBad) (last int64, ok bool) {
	var first *dump.FirstBad
	for i := range bad {
		b := &bad[i]
		if slices.Contains(guarded, b.Field) && (first == nil || b.Tick < first.Tick) {
			first = b
		}
	}
	if first == nil {
		return 0, false
	}
	f, err := s.Frames(first.Field)
	if err != nil {
		return first.Count - 1, true
	}
	i, found := slices.BinarySearch(f.Ticks, first.Tick)
	if found && i > 0 && i < len(f.Counts) && f.Counts[i] == f.Counts[i-1] {
		return first.Count, true // written after the substep: found after the next
	}
	return first.Count - 1, true
}

// guarded are the fields that mjlab's guard checks.
var guarded = []string{"qpos", "qvel", "qacc", "qacc_warmstart", "sensordata"}

// cutStates leaves out the states behind one.
func cutStates(all *dump.StateInfo, last int64) *dump.StateInfo {
	out := *all
	n, _ := slices.BinarySearch(all.Steps, last+1)
	out.Steps = all.Steps[:n]
	return &out
}

func lastFrames(n int) func(rootcause.Source) rootcause.Source {
	return func(s rootcause.Source) rootcause.Source {
		v := see(s)
		v.frames, v.traces = n, false
		return v
	}
}

// fewEnvs keeps the first rows, which are the culprits.
func fewEnvs(n int) func(rootcause.Source) rootcause.Source {
	return func(s rootcause.Source) rootcause.Source {
		v := see(s)
		v.keepRows(func(row, _ int) bool { return row < n })
		return v
	}
}

// keepRows cuts the per-env rows.
func (v *view) keepRows(keep func(row, env int) bool) {
	var ids []int
	var roles []dump.Role
	for row, env := range v.man.EnvIDs {
		if !keep(row, env) {
			continue
		}
		v.rows, ids = append(v.rows, row), append(ids, env)
		if row < len(v.man.EnvRoles) {
			roles = append(roles, v.man.EnvRoles[row])
		}
	}
	v.man.EnvIDs, v.man.EnvRoles = ids, roles
}

// oneRank splits the envs over ranks and keeps those of one.
func oneRank(ranks int) func(rootcause.Source) rootcause.Source {
	return func(s rootcause.Source) rootcause.Source {
		v := see(s)
		if !strings.HasPrefix(v.format, "nanguard") || v.man.NumEnvs < 2*ranks {
			return nil
		}
		size, rank := v.man.NumEnvs/ranks, 0
		if t := v.man.Trip; t != nil && t.Env != nil {
			rank = min(*t.Env/size, ranks-1)
		}
		mine := func(env int) bool { return min(env/size, ranks-1) == rank }
		v.keepRows(func(_, env int) bool { return mine(env) })
		if len(v.rows) == 0 {
			return nil
		}
		v.man.NumEnvs, v.man.Run.Rank, v.man.Run.WorldSize = size, rank, ranks
		v.traces = false // they are of all envs
		v.retrip(func(b dump.FirstBad) bool { return b.Env == nil || mine(*b.Env) })
		for i := range v.man.FirstBad {
			v.man.FirstBad[i].EnvsBad = min(v.man.FirstBad[i].EnvsBad, size)
		}
		return v
	}
}

func halves(s rootcause.Source) rootcause.Source {
	if !strings.HasPrefix(s.Format(), "nanguard") {
		return nil
	}
	v := see(s)
	v.half = true
	for i := range v.man.Fields {
		if v.man.Fields[i].DType == tensor.Float32.String() {
			v.man.Fields[i].DType = tensor.Float16.String()
		}
	}
	return v
}

// Format names the dialect that the view is in.
func (v *view) Format() string { return v.format }

// Manifest returns what the view says of itself.
func (v *view) Manifest() *dump.Manifest { return &v.man }

// States returns the states where the view has them.
func (v *view) States() *dump.StateInfo {
	if !v.states {
		return nil
	}
	if v.info != nil {
		return v.info
	}
	return v.Source.States()
}

// Field returns a field that the view has.
func (v *view) Field(name string) (dump.FieldSpec, bool) {
	if name == dump.StateField && v.states {
		return v.Source.Field(name)
	}
	for _, f := range v.man.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return dump.FieldSpec{}, false
}

// Trace returns the trace of a field that the view has.
func (v *view) Trace(name string) (*dump.Trace, error) {
	if _, ok := v.Field(name); !ok || !v.traces {
		return nil, dump.ErrNoEntry
	}
	return v.Source.Trace(name)
}

// Frames returns the frames that the view has.
func (v *view) Frames(name string) (*dump.Series, error) {
	if _, ok := v.Field(name); !ok {
		return nil, dump.ErrNoEntry
	}
	whole, err := v.Source.Frames(name)
	if err != nil {
		return nil, err
	}
	s := *whole
	if name == dump.StateField && v.info != nil {
		s = headFrames(s, len(v.info.Steps))
	}
	if n := len(s.Ticks); v.frames > 0 && n > v.frames {
		s = cutFrames(s, n-v.frames)
	}
	if v.rows != nil && len(s.EnvIDs) > 0 {
		s = cutRows(s, v.rows)
	}
	if v.half && s.Values.DType == tensor.Float32 {
		s.Values = halve(s.Values)
	}
	return &s, nil
}

// cutFrames leaves the first frames out.
func cutFrames(s dump.Series, from int) dump.Series {
	out := s
	out.Ticks, out.Counts = s.Ticks[from:], s.Counts[from:]
	shape := slices.Clone(s.Values.Shape)
	size := len(s.Values.Data) / shape[0]
	shape[0] -= from
	out.Values = tensor.Array{DType: s.Values.DType, Shape: shape, Data: s.Values.Data[from*size:]}
	return out
}

// headFrames keeps the first frames.
func headFrames(s dump.Series, n int) dump.Series {
	out := s
	out.Ticks, out.Counts = s.Ticks[:n], s.Counts[:min(n, len(s.Counts))]
	shape := slices.Clone(s.Values.Shape)
	size := len(s.Values.Data) / shape[0]
	shape[0] = n
	out.Values = tensor.Array{DType: s.Values.DType, Shape: shape, Data: s.Values.Data[:n*size]}
	return out
}

// cutRows keeps some rows of each frame.
func cutRows(s dump.Series, rows []int) dump.Series {
	out := s
	frames, cols := s.Values.Shape[0], s.Values.Shape[2]
	size := cols * s.Values.DType.Size()
	out.Values = tensor.NewArray(s.Values.DType, frames, len(rows), cols)
	out.EnvIDs = nil
	for k, row := range rows {
		if row >= s.Values.Shape[1] {
			panic(fmt.Sprintf("diagnosis: row %d of %d", row, s.Values.Shape[1]))
		}
		out.EnvIDs = append(out.EnvIDs, s.EnvIDs[row])
		for i := range frames {
			copy(out.Values.Data[(i*len(rows)+k)*size:][:size], s.Values.Frame(i).Data[row*size:])
		}
	}
	return out
}

// halve rounds to half precision; what is too large for it is infinite.
func halve(a tensor.Array) tensor.Array {
	out := tensor.NewArray(tensor.Float16, a.Shape...)
	for i := range a.Len() {
		h := half(math.Float32frombits(uint32(a.Bits(i))))
		out.Data[2*i], out.Data[2*i+1] = byte(h), byte(h>>8)
	}
	return out
}

// half returns the nearest half, ties to even.
func half(f float32) uint16 {
	b := math.Float32bits(f)
	sign, abs := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00
	case abs >= 0x477ff000: // 65520
		return sign | 0x7c00
	case abs < 0x38800000: // below the smallest normal
		m := float64(math.Float32frombits(abs)) * (1 << 24)
		return sign | uint16(math.RoundToEven(m))
	}
	abs += 0xfff + abs>>13&1
	return sign | uint16((abs-0x38000000)>>13)
}
