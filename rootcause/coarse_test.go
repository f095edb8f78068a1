package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// replayed is a run that observes a position about a place and replays it in some type.
func replayed(dtype string, place, by float64, value func(v float64) float64) *loopRun {
	r := newRun(240)
	seen := func(i, k int) float64 { return value(place + by*(2*hash(i, k)-1)) }
	return r.addEnvs("obs.track", dump.StageObs, "float32", seen).
		add("obs.replay", dump.StageObs, make([]string, 32), func(i, col int) float64 { return inHalf(seen(i, 7*col), dtype) }).typed("obs.replay", dtype)
}

// TestCoarseBatch is X21 for observations that are replayed in too few digits.
func TestCoarseBatch(t *testing.T) {
	as := func(v float64) float64 { return v }
	stored := newRun(240).addEnvs("obs.track", dump.StageObs, "float32", func(i, row int) float64 { return 3000 + 2*hash(i, row) }).
		addEnvs("obs.storage", dump.StageObs, "float16", func(i, row int) float64 { return inHalf(3000+2*hash(i, row), "float16") })
	for name, r := range map[string]*loopRun{
		"far":         replayed("float16", 3000, 2.5, as),
		"behind":      replayed("float16", -20000, 10, as),
		"bfloat16":    replayed("bfloat16", 300, 2, as),
		"of all envs": stored,
	} {
		c, d := r.judge()
		assert.Equal(t, yes, c.feature(X21).Value, "%s: %s", name, c.feature(X21).Text)
		assert.Equal(t, PrecisionLoss, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"near":                   replayed("float16", 3, 2.5, as),
		"a wide range":           replayed("float16", 3000, 500, as),
		"single":                 replayed("float32", 3000, 2.5, as),
		"a number of each":       replayed("float16", 3000, 0, as),
		"gravity":                replayed("float16", -0.9995, 2e-4, as),
		"counts that half holds": replayed("float16", 3000, 2.5, func(v float64) float64 { return inHalf(v, "float16") }),
		"of something else":      replayed("float16", 3000, 2.5, as).addEnvs("obs.track", dump.StageObs, "float32", func(i, row int) float64 { return 900 + 0.4*hash(i, row) }),
	} {
		c, d := r.judge()
		assert.NotEqual(t, yes, c.feature(X21).Value, "%s: %s", name, c.feature(X21).Text)
		assert.Equal(t, Clean, d.Verdict, name)
	}
}
