package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestAddressesAfterwards: an array that moved only after it had gone wrong, with
// a fact of the dump from either time, says nothing about a stale graph.
func TestAddressesAfterwards(t *testing.T) {
	run := func(moved int64, fact float64) string {
		r := newRun(60).set("obs.policy", 40, 1, 2, math.NaN())
		at := r.fields["obs.policy"].ticks[40]
		reads := func(addr float64) map[string]any {
			return map[string]any{"graph": "step", "reads": map[string]any{"gain": addr}}
		}
		r.event(dump.Event{Tick: 0, Kind: dump.EventGraphCapture, Name: "step", Detail: reads(64)})
		r.event(dump.Event{Tick: at + moved, Kind: dump.EventBufferMoved, Name: "gain", Detail: map[string]any{"field": "gain", "from": 64.0, "to": 4096.0}})
		if moved > 0 {
			r.event(dump.Event{Tick: at + moved + 1, Kind: dump.EventGraphCapture, Name: "step", Detail: reads(4096)})
		}
		r.man.Facts["address.gain"] = fact
		c, _ := r.judge()
		return c.feature(F12).Value
	}
	assert.Equal(t, yes, run(-50, 4096))
	assert.NotEqual(t, yes, run(20, 4096), "the fact is of the end of the run")
	assert.NotEqual(t, yes, run(20, 64), "the fact is of the trip")
}

// TestOftenFull: a buffer that is reported full all the time is a fault of its
// own; a few times are not.
func TestOftenFull(t *testing.T) {
	full := func(every int) Diagnosis {
		r := newRun(80)
		for i, tick := range r.fields["reward"].ticks {
			if i%every == 0 {
				r.event(dump.Event{Tick: tick, Kind: dump.EventCapacity, Name: "nconmax", Count: 6})
			}
		}
		_, d := r.judge()
		return d
	}
	assert.Equal(t, ContactCapacity, full(2).Verdict)
	assert.Equal(t, Clean, full(20).Verdict)
}

// TestSharedBuffer: contacts of all worlds against one limit, which no single
// world reaches.
func TestSharedBuffer(t *testing.T) {
	r := newRun(60)
	nefc := r.fields["nefc"]
	for _, n := range []struct {
		name   string
		perEnv bool
		count  float64
	}{{"ncon", true, 3}, {"nacon", false, 95}} {
		spec := nefc.spec
		spec.Name, spec.PerEnv = n.name, n.perEnv
		f := &loopField{spec: spec, ticks: nefc.ticks, counts: nefc.counts}
		for range nefc.v {
			frame := [][]float64{{n.count}}
			for n.perEnv && len(frame) < len(r.man.EnvIDs) {
				frame = append(frame, []float64{n.count})
			}
			f.v = append(f.v, frame)
		}
		r.fields[n.name] = f
		r.man.Fields = append(r.man.Fields, spec)
	}
	r.man.Facts["sim.nconmax"] = 80.0
	_, d := r.judge()
	assert.Equal(t, Clean, d.Verdict, "nobody says that 80 is for all worlds together")
	r.event(dump.Event{Tick: 30, Kind: dump.EventCapacity, Name: "nconmax", Count: 6})
	c, d := r.judge()
	assert.Equal(t, ContactCapacity, d.Verdict)
	assert.Equal(t, "nacon exceeded sim.nconmax (80) in 240 of 240 checks before it began: what does not fit is dropped", c.feature(X12).Text)
}

// TestDensity is X23: a log-probability that is infinite from finite inputs.
func TestDensity(t *testing.T) {
	c, d := newRun(60).set("log_prob", -1, 2, 0, math.Inf(1)).judge()
	assert.Equal(t, yes, c.feature(X23).Value)
	assert.Equal(t, MathDomain, d.Causes[0].ID)
	c, _ = newRun(60).set("policy.std", -1, 2, -1, -0.1).set("log_prob", -1, 2, 0, math.NaN()).judge()
	assert.NotEqual(t, yes, c.feature(X23).Value)
}

// TestLimitsThatAreNone: a model array that holds the largest float from the
// start has not run away.
func TestLimitsThatAreNone(t *testing.T) {
	r := newRun(60)
	spec := dump.FieldSpec{Name: "model.joint_velocity_limit", Stage: dump.StageModel, Clock: dump.ClockStep, Order: 5, DType: "float32", PerEnv: true}
	like := r.fields["reward"]
	f := &loopField{spec: spec, ticks: like.ticks, counts: like.counts}
	for range like.v {
		var frame [][]float64
		for range r.man.EnvIDs {
			frame = append(frame, []float64{math.MaxFloat32, 30})
		}
		f.v = append(f.v, frame)
	}
	r.fields[spec.Name] = f
	r.man.Fields = append(r.man.Fields, spec)
	_, d := r.judge()
	assert.Equal(t, Clean, d.Verdict)
	_, d = runaway(r, 0).judge()
	assert.Equal(t, "qvel", d.Root.Field)
}
