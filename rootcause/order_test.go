package rootcause

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
)

// fields returns the fields of a table in order.
func fields(os []Onset) []string {
	var out []string
	for _, o := range os {
		out = append(out, o.Field)
	}
	return out
}

func TestOrderByTickThenLoop(t *testing.T) {
	r := newRun(20)
	r.set("obs.policy", -1, 1, 3, nan).set("qvel", -1, 1, 2, inf).set("qacc", -1, 1, 0, -inf).set("reward", -2, 4, 0, nan)
	_, d := r.judge()
	assert.Equal(t, []string{"reward", "qacc", "qvel", "obs.policy"}, fields(d.Order))
	assert.Equal(t, "reward", d.FirstBad.Field)
	assert.Equal(t, 33, *d.FirstBad.Env)
	assert.Equal(t, "neginf", d.Order[1].Class)
	assert.Equal(t, 2, d.Order[2].Col)
}

// TestOrderWithoutManifestTable: the frames alone give the same table.
func TestOrderWithoutManifestTable(t *testing.T) {
	bend := func() *loopRun {
		return newRun(20).set("qvel", -1, 1, 2, inf).set("qvel", -1, 3, 0, nan).set("obs.policy", -1, 1, 3, nan)
	}
	_, want := bend().judge()
	r := bend()
	r.untold = true
	_, got := r.judge()
	require.NotEmpty(t, got.Order)
	assert.Equal(t, fields(want.Order), fields(got.Order))
	assert.Equal(t, want.FirstBad.Field, got.FirstBad.Field)
	assert.Equal(t, *want.FirstBad.Env, *got.FirstBad.Env, "the lowest env of the frame")
	assert.Empty(t, got.Warnings)
}

// TestCrossCheck: a manifest that contradicts the frames is said to.
func TestCrossCheck(t *testing.T) {
	env, bend := 7, 60 // the frame in which env 7 goes bad
	ticks := newRun(20).fields["qvel"].ticks
	bad := func(frame, col int, class string) dump.FirstBad {
		return dump.FirstBad{Field: "qvel", Tick: ticks[frame], Clock: dump.ClockSubstep, Env: &env, Col: col, Class: class, EnvsBad: 1}
	}
	for _, c := range []struct {
		name string
		b    dump.FirstBad
		want string
	}{
		{"agrees", bad(bend, 1, "nan"), ""},
		{"too late", bad(bend+1, 1, "nan"), fmt.Sprintf("its frames are not finite from tick %d on", ticks[bend])},
		{"finite there", bad(bend-2, 1, "nan"), "the frame of that tick is finite"},
		{"another column", bad(bend, 2, "nan"), "the frame shows column 1 as nan"},
		{"another class", bad(bend, 1, "posinf"), "the frame shows column 1 as nan"},
	} {
		r := newRun(20).set("qvel", bend, 0, 1, nan, nan)
		r.untold = true
		r.man.FirstBad = []dump.FirstBad{c.b}
		_, d := r.judge()
		said := strings.Join(d.Warnings, "\n")
		if c.want == "" {
			assert.Empty(t, said, c.name)
			continue
		}
		assert.Contains(t, said, c.want, c.name)
	}
}

// TestUnlistedField: a field that is bad in the frames and not in the manifest's
// table is added with a warning.
func TestUnlistedField(t *testing.T) {
	r := newRun(20).set("qvel", -1, 0, 1, nan).set("reward", -1, 0, 0, nan)
	r.tell()
	r.man.FirstBad = r.man.FirstBad[:1]
	r.untold = true
	_, d := r.judge()
	assert.Equal(t, []string{"qvel", "reward"}, fields(d.Order))
	assert.Contains(t, strings.Join(d.Warnings, "\n"), "field reward: the frames are not finite")
}

// TestMonitorNeverTrips: what nobody reads is listed and takes no trip.
func TestMonitorNeverTrips(t *testing.T) {
	r := newRun(20).set("log_prob", -6, 0, 0, nan).set("qvel", -1, 0, 0, nan)
	r.fields["log_prob"].spec.Stage = dump.StageMonitor
	for i := range r.man.Fields {
		if r.man.Fields[i].Name == "log_prob" {
			r.man.Fields[i].Stage = dump.StageMonitor
		}
	}
	r.untold = true
	_, d := r.judge()
	assert.Equal(t, []string{"log_prob", "qvel"}, fields(d.Order))
	assert.Equal(t, "qvel", d.FirstBad.Field)
}

// TestTraceReachesFurtherBack: the trace shows a value that went bad before the
// frames of the file begin.
func TestTraceReachesFurtherBack(t *testing.T) {
	r := newRun(20)
	f := r.fields["qvel"]
	f.ticks, f.counts, f.v = f.ticks[40:], f.counts[40:], f.v[40:]
	r.traces["qvel"] = &dump.Trace{
		Ticks: []int64{1, 2, 3}, Counts: []int64{1, 2, 3}, NaN: []float64{0, 2, 0}, PosInf: make([]float64, 3), NegInf: make([]float64, 3),
		AbsMax: []float64{5, 5, 5}, ArgMax: []float64{0, 0, 0}, Min: []float64{-5, -5, -5}, Max: []float64{5, 5, 5}, Mean: make([]float64, 3),
	}
	r.untold = true
	_, d := r.judge()
	require.NotNil(t, d.FirstBad)
	assert.Equal(t, int64(2), d.FirstBad.Tick)
	assert.Nil(t, d.FirstBad.Env, "a trace does not say which env was NaN")
}

// TestPrecursorsInOrder: the huge value before the NaN stands in the table.
func TestPrecursorsInOrder(t *testing.T) {
	_, d := newRun(30).set("qvel", -5, 0, 1, 900, 3e4, 8e5, 4e8, 1e20).set("obs.policy", -1, 0, 3, nan).judge()
	require.Len(t, d.Order, 2)
	assert.Equal(t, "qvel", d.Order[0].Field)
	assert.Equal(t, growing, d.Order[0].Class)
	assert.Equal(t, 1, d.Order[0].Envs)
}
