package rootcause

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
	"github.com/nanguard/nanguard/tensor"
)

// loopRun is a made-up training loop whose values a test then bends: healthy
// noise in every field, in the order and with the ticks that a real loop has.
// Per env step: the policy at one tick, four substeps, then rewards and
// observations; a learner update of two minibatches after every eighth step.
type loopRun struct {
	format   string
	man      dump.Manifest
	meta     map[string]any
	model    *mjb.Model
	states   *dump.StateInfo
	fields   map[string]*loopField
	traces   map[string]*dump.Trace
	warnings []error
	untold   bool // leave first_bad and trip out of the manifest
}

// loopField is a field as [frame][row][col].
type loopField struct {
	spec          dump.FieldSpec
	ticks, counts []int64
	v             [][][]float64
}

// hash returns the same number in [-1, 1) for the same arguments.
func hash(parts ...int) float64 {
	h := uint64(1469598103934665603)
	for _, p := range parts {
		h = (h ^ uint64(p+7)) * 1099511628211
		h ^= h >> 29
	}
	return float64(h%(1<<20))/(1<<19) - 1
}

// layout says which fields newRun makes and how large a healthy value is.
var layout = []struct {
	name   string
	stage  dump.Stage
	clock  dump.Clock
	order  float64
	cols   int
	size   float64
	shift  float64
	shared bool
}{
	{"ctrl", dump.StagePhysics, dump.ClockSubstep, 10, 3, 1, 0, false},
	{"nefc", dump.StageSolver, dump.ClockSubstep, 12, 1, 3, 8, false},
	{"solver_niter", dump.StageSolver, dump.ClockSubstep, 13, 1, 1, 3, false},
	{"qacc", dump.StagePhysics, dump.ClockSubstep, 15, 3, 500, 0, false},
	{"qvel", dump.StagePhysics, dump.ClockSubstep, 16, 3, 5, 0, false},
	{"qpos", dump.StagePhysics, dump.ClockSubstep, 17, 3, 1, 0, false},
	{"sensordata", dump.StageSensor, dump.ClockSubstep, 18, 2, 50, 0, false},
	{"done", dump.StageDone, dump.ClockStep, 29, 1, 0, 0, false},
	{"reward.upright", dump.StageReward, dump.ClockStep, 30, 1, 0.5, 0.5, false},
	{"reward.reach", dump.StageReward, dump.ClockStep, 30.1, 1, 0.5, 0.5, false},
	{"reward", dump.StageReward, dump.ClockStep, 35, 1, 0.5, 1, false},
	{"obs.policy", dump.StageObs, dump.ClockStep, 40, 5, 5, 0, false},
	{"normalizer.mean", dump.StageNormalizer, dump.ClockStep, 48, 5, 0.5, 0, true},
	{"normalizer.var", dump.StageNormalizer, dump.ClockStep, 49, 5, 1, 4, true},
	{"obs.policy.normalized", dump.StageNormalizer, dump.ClockStep, 50, 5, 2, 0, false},
	{"policy.mean", dump.StagePolicy, dump.ClockStep, 60, 3, 0.3, 0, false},
	{"policy.std", dump.StagePolicy, dump.ClockStep, 61, 3, 0.05, 0.8, false},
	{"action", dump.StagePolicy, dump.ClockStep, 62, 3, 2, 0, false},
	{"log_prob", dump.StagePolicy, dump.ClockStep, 63, 1, 3, -5, false},
	{"value", dump.StageValue, dump.ClockStep, 64, 1, 1, 0, false},
	{"loss.total", dump.StageLoss, dump.ClockMinibatch, 80, 1, 0.2, 0.3, true},
	{"grad_norm", dump.StageGrad, dump.ClockMinibatch, 81, 1, 0.2, 0.8, true},
	{"lr", dump.StageLoss, dump.ClockMinibatch, 82, 1, 0, 1e-3, true},
	{"param.actor", dump.StageParam, dump.ClockMinibatch, 83, 4, 0.3, 0, true},
	{"param.std", dump.StageParam, dump.ClockMinibatch, 83.5, 3, 0.02, 0.8, true},
}

const (
	decimation = 4
	perUpdate  = 8
)

// newRun returns a healthy run of some env steps with 5 of 48 envs in the file.
func newRun(steps int) *loopRun {
	r := &loopRun{
		format: "nanguard-1", fields: map[string]*loopField{}, traces: map[string]*dump.Trace{}, meta: map[string]any{},
		man: dump.Manifest{
			Format: "nanguard-dump", Version: 1, NumEnvs: 48, EnvIDs: []int{7, 3, 11, 20, 33},
			Clocks: map[dump.Clock]int64{}, Facts: map[string]any{
				"sim.timestep": 0.005, "sim.decimation": 4.0, "sim.iterations": 10.0, "sim.njmax": 300.0,
				"policy.std_param": "scalar", "normalizer.enabled": true, "normalizer.eps": 0.01,
			},
		},
	}
	for _, l := range layout {
		spec := dump.FieldSpec{Name: l.name, Stage: l.stage, Clock: l.clock, Order: l.order, DType: "float32", PerEnv: !l.shared}
		r.fields[l.name] = &loopField{spec: spec}
		r.man.Fields = append(r.man.Fields, spec)
	}
	tick := int64(0)
	for step := range steps {
		r.capture(tick, step, func(order float64) bool { return order >= 50 && order < 80 })
		for sub := range decimation {
			r.capture(tick+1+int64(sub), step*decimation+sub, func(order float64) bool { return order < 20 })
		}
		tick += decimation + 1
		r.capture(tick, step, func(order float64) bool { return order >= 20 && order < 50 })
		tick++
		for m := 0; m < 2 && step%perUpdate == perUpdate-1; m++ {
			r.capture(tick, step*2+m, func(order float64) bool { return order >= 80 })
			tick++
		}
	}
	r.man.Clocks[dump.ClockStep], r.man.Clocks[dump.ClockSubstep] = int64(steps), int64(steps*decimation)
	r.man.Clocks[dump.ClockUpdate] = int64(steps / perUpdate)
	return r
}

// capture appends a healthy frame to every field that the loop makes there.
func (r *loopRun) capture(tick int64, count int, there func(order float64) bool) {
	for k, l := range layout {
		if !there(l.order) {
			continue
		}
		f := r.fields[l.name]
		rows := len(r.man.EnvIDs)
		if l.shared {
			rows = 1
		}
		frame := make([][]float64, rows)
		for row := range frame {
			frame[row] = make([]float64, l.cols)
			for col := range frame[row] {
				frame[row][col] = l.shift + l.size*hash(k, int(tick), row, col)
			}
		}
		if l.name == "nefc" || l.name == "solver_niter" {
			for row := range frame {
				frame[row][0] = math.Round(frame[row][0])
			}
		}
		f.ticks, f.counts, f.v = append(f.ticks, tick), append(f.counts, int64(count+1)), append(f.v, frame)
	}
}

// set writes values into consecutive frames of a row from frame i on; col -1
// writes all columns. A negative i counts from the end.
func (r *loopRun) set(field string, i, row, col int, values ...float64) *loopRun {
	f := r.fields[field]
	if i < 0 {
		i += len(f.v)
	}
	for k, v := range values {
		for c := range f.v[i+k][row] {
			if col < 0 || c == col {
				f.v[i+k][row][c] = v
			}
		}
	}
	return r
}

// all writes one value into all rows and columns of frames [i, end).
func (r *loopRun) all(field string, i int, v float64) *loopRun {
	f := r.fields[field]
	if i < 0 {
		i += len(f.v)
	}
	for k := i; k < len(f.v); k++ {
		for row := range f.v[k] {
			r.set(field, k, row, -1, v)
		}
	}
	return r
}

// drop removes fields, as a dump that never recorded them.
func (r *loopRun) drop(names ...string) *loopRun {
	for _, n := range names {
		delete(r.fields, n)
		delete(r.traces, n)
	}
	r.man.Fields = slices.DeleteFunc(r.man.Fields, func(s dump.FieldSpec) bool { return slices.Contains(names, s.Name) })
	return r
}

// only keeps the named fields.
func (r *loopRun) only(names ...string) *loopRun {
	for _, l := range layout {
		if !slices.Contains(names, l.name) {
			r.drop(l.name)
		}
	}
	return r
}

// event adds an event.
func (r *loopRun) event(e dump.Event) *loopRun {
	r.man.Events = append(r.man.Events, e)
	return r
}

// judge fills in the manifest's table of first bad values as a guard does, and
// diagnoses the run.
func (r *loopRun) judge() (*Case, Diagnosis) {
	if !r.untold {
		r.tell()
	}
	c, err := NewCase(r)
	if err != nil {
		panic(err)
	}
	return c, Diagnose(c, DefaultOptions())
}

// tell fills in first_bad and trip from the frames.
func (r *loopRun) tell() {
	for _, spec := range r.man.Fields {
		if b, ok := r.firstBad(r.fields[spec.Name]); ok {
			r.man.FirstBad = append(r.man.FirstBad, b)
		}
	}
	order := func(b dump.FirstBad) float64 { return r.fields[b.Field].spec.Order }
	slices.SortFunc(r.man.FirstBad, func(a, b dump.FirstBad) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(order(a), order(b)))
	})
	for _, b := range r.man.FirstBad {
		if r.fields[b.Field].spec.Stage != dump.StageMonitor {
			r.man.Trip = &dump.Trip{Tick: b.Tick, Clock: b.Clock, Count: b.Count, Field: b.Field, Env: b.Env, Col: b.Col, Class: b.Class}
			break
		}
	}
}

// firstBad finds the first frame with a non-finite value.
func (r *loopRun) firstBad(f *loopField) (dump.FirstBad, bool) {
	b := dump.FirstBad{Field: f.spec.Name, Clock: f.spec.Clock}
	for i := range f.v {
		for row := range f.v[i] {
			col := slices.IndexFunc(f.v[i][row], func(v float64) bool { return !finite(v) })
			if col < 0 {
				continue
			}
			env := r.man.EnvIDs[row]
			if b.EnvsBad == 0 || env < *b.Env {
				b.Col, b.Env, b.Class = col, &env, tensor.ClassOf(f.v[i][row][col]).String()
			}
			b.EnvsBad++
		}
		if b.EnvsBad > 0 {
			b.Tick, b.Count = f.ticks[i], f.counts[i]
			if !f.spec.PerEnv {
				b.Env = nil
			} else if b.EnvsBad == len(r.man.EnvIDs) {
				b.EnvsBad = r.man.NumEnvs
			}
			return b, true
		}
	}
	return b, false
}

// The methods of Source.

func (r *loopRun) Format() string           { return r.format }
func (r *loopRun) Manifest() *dump.Manifest { return &r.man }
func (r *loopRun) Metadata() *dump.Metadata { return &dump.Metadata{Values: r.meta} }
func (r *loopRun) States() *dump.StateInfo  { return r.states }
func (r *loopRun) Model() *mjb.Model        { return r.model }
func (r *loopRun) Warnings() []error        { return r.warnings }

func (r *loopRun) Field(name string) (dump.FieldSpec, bool) {
	f, ok := r.fields[name]
	if !ok {
		return dump.FieldSpec{}, false
	}
	return f.spec, true
}

func (r *loopRun) Columns(name string) []string {
	f, ok := r.fields[name]
	if !ok {
		return nil
	}
	return f.spec.Cols
}

func (r *loopRun) Trace(name string) (*dump.Trace, error) {
	t, ok := r.traces[name]
	if !ok {
		return nil, dump.ErrNoEntry
	}
	return t, nil
}

func (r *loopRun) Frames(name string) (*dump.Series, error) {
	f, ok := r.fields[name]
	if !ok || len(f.v) == 0 {
		return nil, dump.ErrNoEntry
	}
	a := tensor.NewArray(tensor.Float32, len(f.v), len(f.v[0]), len(f.v[0][0]))
	k := 0
	for _, frame := range f.v {
		for _, row := range frame {
			for _, v := range row {
				binary.LittleEndian.PutUint32(a.Data[4*k:], math.Float32bits(float32(v)))
				k++
			}
		}
	}
	s := &dump.Series{Ticks: f.ticks, Counts: f.counts, Values: a}
	if f.spec.PerEnv {
		s.EnvIDs = r.man.EnvIDs
	}
	return s, nil
}

// guardDump returns a dump of mjlab's own guard: the states before each step of
// one env, qpos and qvel of two joints, and nothing else.
func guardDump(vel [][2]float64, culprit int, rows []int, total int) *loopRun {
	r := &loopRun{
		format: "mjlab-v4", fields: map[string]*loopField{}, traces: map[string]*dump.Trace{},
		man:    dump.Manifest{NumEnvs: total, EnvIDs: rows},
		meta:   map[string]any{"nan_env_ids": []any{int64(culprit)}},
		states: &dump.StateInfo{Size: 4, BeforeStep: true, Parts: []mjb.Part{{Name: "qpos", From: 0, To: 2}, {Name: "qvel", From: 2, To: 4}}},
	}
	f := &loopField{spec: dump.FieldSpec{
		Name: dump.StateField, Stage: dump.StagePhysics, Clock: dump.ClockSubstep, PerEnv: true,
		Cols: []string{"qpos hip", "qpos left_knee", "qvel hip", "qvel left_knee"},
	}}
	q := [2]float64{0.1, -0.2}
	for i, v := range vel {
		q[0], q[1] = q[0]+0.002*v[0], q[1]+0.002*v[1]
		frame := make([][]float64, len(rows))
		for row := range frame {
			frame[row] = []float64{q[0], q[1], v[0], v[1]}
		}
		f.ticks, f.counts, f.v = append(f.ticks, int64(i)), append(f.counts, int64(i)), append(f.v, frame)
		r.states.Steps = append(r.states.Steps, int64(i))
	}
	r.fields[dump.StateField] = f
	r.untold = true
	return r
}
