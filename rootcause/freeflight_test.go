package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// flying lets the speeds of a row grow from frame from on, slowly and from far
// past any limit, with a contact in the last frames only.
func flying(constraints float64) *loopRun {
	r := newRun(30)
	for i := range r.fields["qvel"].v {
		r.set("qvel", i, 0, 1, 9e3*math.Pow(1.02, float64(i))).set("nefc", i, 0, 0, constraints)
	}
	r.set("nefc", -3, 0, 0, 40, 40, 40).set("qvel", -1, 0, 1, nan).set("qacc", -1, 0, 0, nan).traced("qvel")
	for _, name := range []string{"qvel", "qacc", "qpos", "nefc"} {
		r.keepLast(name, 60)
	}
	return r
}

// keepLast keeps the last frames of a field.
func (r *loopRun) keepLast(name string, n int) *loopRun {
	f := r.fields[name]
	k := len(f.v) - n
	f.v, f.ticks, f.counts = f.v[k:], f.ticks[k:], f.counts[k:]
	return r
}

// TestGrowthWithoutContact is X2 where the frame in which it began is gone: the
// growth in those that are left had no contact, or had one all the time.
func TestGrowthWithoutContact(t *testing.T) {
	c, d := flying(0).judge()
	assert.Equal(t, yes, c.feature(X2).Value, c.feature(X2).Text)
	assert.Contains(t, c.feature(X2).Text, "nothing was touched")
	assert.NotEqual(t, ContactDivergence, d.Causes[0].ID)
	c, _ = flying(8).judge()
	assert.NotEqual(t, yes, c.feature(X2).Value, c.feature(X2).Text)
}

// traced gives a field a trace of its largest values.
func (r *loopRun) traced(name string) *loopRun {
	f, tr := r.fields[name], &dump.Trace{}
	tr.Ticks, tr.Counts = f.ticks, f.counts
	for i := range f.v {
		most, arg := 0.0, 0
		for row := range f.v[i] {
			for _, v := range f.v[i][row] {
				if math.Abs(v) > most {
					most, arg = math.Abs(v), r.man.EnvIDs[row%len(r.man.EnvIDs)]
				}
			}
		}
		zero := 0.0
		tr.NaN, tr.PosInf, tr.NegInf = append(tr.NaN, zero), append(tr.PosInf, zero), append(tr.NegInf, zero)
		tr.AbsMax, tr.ArgMax = append(tr.AbsMax, most), append(tr.ArgMax, float64(arg))
		tr.Min, tr.Max, tr.Mean = append(tr.Min, zero), append(tr.Max, most), append(tr.Mean, most)
	}
	r.traces[name] = tr
	return r
}

// TestNothingEverTouched is X14 by what was recorded from the start of the run.
func TestNothingEverTouched(t *testing.T) {
	for want, nefc := range map[string]float64{"never": 0, unknown: 3} {
		c, _ := runaway(newRun(30).all("nefc", 0, nefc).traced("nefc"), 0).judge()
		assert.Equal(t, want, c.feature(X14).Value, c.feature(X14).Text)
	}
	late := runaway(newRun(30).all("nefc", 0, 0).traced("nefc"), 0)
	for i := range late.traces["nefc"].Counts {
		late.traces["nefc"].Counts[i] += 500
	}
	c, _ := late.judge()
	assert.Equal(t, unknown, c.feature(X14).Value, "the record begins too late")
}

// TestTheWalkStaysInItsEnv: what the trace shows of another env's run is not
// where this env's began.
func TestTheWalkStaysInItsEnv(t *testing.T) {
	r := runaway(newRun(30), 0).drop("qacc").traced("qvel")
	tr := r.traces["qvel"]
	n := len(tr.Ticks)
	for i := n - 30; i < n; i++ { // env 3 runs away first, env 7 leads in the last frames
		tr.AbsMax[i], tr.ArgMax[i] = 5e4+float64(i), 3
		if i >= n-12 {
			tr.ArgMax[i] = 7
		}
	}
	r.keepLast("qvel", 4).keepLast("qpos", 4)
	c, _ := r.judge()
	assert.Equal(t, 7, c.root().env)
	assert.Equal(t, tr.Ticks[n-12], c.root().tick)
}

// TestCommandsCameFirst: controls past any sense, seen by an observation before
// the speeds that they make have run away.
func TestCommandsCameFirst(t *testing.T) {
	r := newRun(60).set("ctrl", -30, 0, 0, 3e3)
	for i := -29; i < 0; i++ {
		r.set("ctrl", i, 0, 0, 3e3*math.Pow(1.2, float64(i+30)))
	}
	runaway(r, 0).set("obs.policy", -6, 0, 2, 7e3, 9e3, 2e4, 5e4, 1e5, nan)
	c, d := r.judge()
	assert.Equal(t, "ctrl", c.root().name)
	assert.Equal(t, yes, c.feature(X7).Value, c.feature(X7).Text)
	assert.Equal(t, ActionExplosion, d.Causes[0].ID)
}
