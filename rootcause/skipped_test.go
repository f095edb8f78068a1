package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// halting returns a run of 80 minibatches whose parameters stop at frame 30 where
// stops says so, with a gradient and a count of thrown away steps.
func halting(stops bool, gradient func(i int) float64, count func(i int) float64) *loopRun {
	r := newRun(320)
	g := r.fields["grad_norm"]
	for i := range g.v {
		g.v[i][0][0] = gradient(i)
		if i <= 30 || !stops {
			continue
		}
		for _, name := range []string{"param.actor", "param.std"} {
			f := r.fields[name]
			copy(f.v[i][0], f.v[30][0])
		}
	}
	if count == nil {
		return r
	}
	return r.add("param.skipped_steps", dump.StageParam, nil, func(i, _ int) float64 { return count(i) })
}

// flows is a healthy gradient, cut one that ends at frame 30.
func flows(i int) float64 { return 1 + 0.5*hash(501, i, 0, 0) }

func cut(i int) float64 {
	if i > 30 {
		return 0
	}
	return flows(i)
}

// TestSkipping is X17 for a count of thrown away steps, X24 for a gradient that
// became zero.
func TestSkipping(t *testing.T) {
	counts := func(i int) float64 { return float64(max(0, i-30)) }
	c, d := halting(true, cut, counts).judge()
	assert.Equal(t, "shown", c.feature(X17).Value, c.feature(X17).Text)
	assert.Contains(t, c.feature(X17).Text, "no parameter moves since tick")
	assert.Equal(t, halted, c.feature(X24).Value, c.feature(X24).Text)
	assert.Equal(t, Masked, d.Verdict)
	assert.Contains(t, d.Causes[0].Fix, "each parameter's gradient")

	every := halting(false, flows, func(i int) float64 { return float64(i / 2) })
	for _, name := range []string{"param.actor", "param.std"} {
		f := every.fields[name]
		for i := 2; i < len(f.v); i += 2 {
			copy(f.v[i][0], f.v[i-1][0])
		}
	}
	c, d = every.judge()
	assert.Equal(t, "shown", c.feature(X17).Value, "every second step is lost")
	assert.Equal(t, Masked, d.Causes[0].ID)

	c, d = halting(true, cut, nil).judge()
	assert.Equal(t, halted, c.feature(X24).Value, c.feature(X24).Text)
	assert.Equal(t, UnknownCause, d.Verdict, "a gradient of zero has many causes")

	for name, r := range map[string]*loopRun{
		"a scaler that starts":     halting(false, flows, func(i int) float64 { return float64(min(i, 6)) }),
		"one now and then":         halting(false, flows, func(i int) float64 { return float64(i / 15) }),
		"never":                    halting(false, flows, func(int) float64 { return 0 }),
		"parameters that move":     halting(false, flows, func(i int) float64 { return float64(i / 2) }),
		"no count":                 halting(false, flows, func(i int) float64 { return 0.3 * float64(i) }),
		"starts anew each update":  halting(false, flows, func(i int) float64 { return float64(i % 2) }),
		"a gradient that is noted": halting(false, cut, nil),
		"a rate of zero":           halting(true, cut, nil).all("lr", 31, 0),
		"training is over":         halting(true, cut, nil).all("loss.total", 31, 0.2),
		"never trained":            halting(true, func(int) float64 { return 0 }, nil).all("param.actor", 0, 0.5).all("param.std", 0, 0.8),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s %s", name, c.feature(X17).Text, c.feature(X24).Text)
	}
}

// TestStumbles is X21 for a target network that rounding holds in parts.
func TestStumbles(t *testing.T) {
	target := func(dtype string, f func(i, col int) float64) *loopRun {
		cols := []string{"a", "b", "c", "d", "e", "f"}
		r := newRun(400).add("param.target", dump.StageParam, cols, f).
			add("param.critic", dump.StageParam, cols, func(i, col int) float64 { return 3 + float64(col) + 0.01*float64(i) })
		r.man.Facts["target.dtype"] = dtype
		return r
	}
	parts := func(i, col int) float64 { return 2 + float64(col) + 1e-5*float64((i+col)/2) }
	c, d := target("bfloat16", parts).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	for name, r := range map[string]*loopRun{
		"single precision":      target("float32", parts),
		"a slow average":        target("bfloat16", func(i, col int) float64 { return 2 + float64(col) + 1e-5*float64(i) }),
		"every second step":     target("bfloat16", func(i, col int) float64 { return 2 + float64(col) + 1e-5*float64(i/2) }),
		"copied now and then":   target("bfloat16", func(i, col int) float64 { return 2 + float64(col) + float64(i/40) }),
		"it follows in parts":   target("bfloat16", func(i, col int) float64 { return 2 + float64(col) + 0.01*float64((i+col)/2) }),
		"there where it goes":   target("bfloat16", func(i, col int) float64 { return 3 + float64(col) + 1e-5*float64((i+col)/2) }),
		"two critics to follow": target("bfloat16", parts).add("param.critic2", dump.StageParam, []string{"a", "b", "c", "d", "e", "f"}, func(i, col int) float64 { return 3 + float64(col) + 0.01*float64(i) }),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X21).Text)
	}
}
