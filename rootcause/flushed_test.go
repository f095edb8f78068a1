package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// underflown is a run in float16 of which the gradients are of a size, and most weights
// stand still.
func underflown(size float64, still func(col int) bool) *loopRun {
	r := newRun(240).drop("param.actor", "grad_norm").all("param.std", 0, 0.8)
	r.man.Facts["amp.enabled"], r.man.Facts["amp.dtype"] = true, "float16"
	return r.add("grad_norm", dump.StageGrad, nil, func(i, _ int) float64 { return size * (1 + 0.3*hash(i)) }).
		add("param.policy.0", dump.StageParam, make([]string, 16), func(i, col int) float64 {
			v := 0.1 + 0.013*float64(col)
			if !still(col) {
				v += 1e-4 * float64(i)
			}
			return v
		})
}

// TestNearlyFlushed is X21 for gradients of which float16 holds hardly anything.
func TestNearlyFlushed(t *testing.T) {
	most := func(col int) bool { return col < 12 }
	with := func(fact string, v any) *loopRun {
		r := underflown(4e-7, most)
		r.man.Facts[fact] = v
		return r
	}
	for name, r := range map[string]*loopRun{
		"nothing said of a scale": underflown(4e-7, most),
		"a scale of one":          with("amp.loss_scale", 1.0),
		"subnormal":               underflown(3e-5, func(col int) bool { return col != 5 }),
		"no scaler":               with("amp.grad_scaler", false),
	} {
		c, d := r.judge()
		assert.Equal(t, yes, c.feature(X21).Value, "%s: %s", name, c.feature(X21).Text)
		assert.Equal(t, PrecisionLoss, d.Verdict, name)
	}
	for name, r := range map[string]*loopRun{
		"a scale":                       with("amp.loss_scale", 65536.0),
		"a scaler":                      with("amp.grad_scaler", true),
		"bfloat16":                      with("amp.dtype", "bfloat16"),
		"single":                        with("amp.enabled", false),
		"gradients of an ordinary size": underflown(0.4, most),
		"converged, and all move":       underflown(4e-7, func(int) bool { return false }),
		"a loss as small":               underflown(4e-7, most).all("loss.total", 0, 1e-5).set("loss.total", 3, 0, 0, 2e-5),
		"a scale that is recorded":      underflown(4e-7, most).add("amp.loss_scale", dump.StageMonitor, nil, func(int, int) float64 { return 1024 }),
	} {
		c, _ := r.judge()
		assert.NotEqual(t, yes, c.feature(X21).Value, "%s: %s", name, c.feature(X21).Text)
	}
}
