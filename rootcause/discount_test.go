package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// typed sets the type of a field.
func (r *loopRun) typed(name, dtype string) *loopRun {
	for i := range r.man.Fields {
		if r.man.Fields[i].Name == name {
			r.man.Fields[i].DType = dtype
		}
	}
	r.fields[name].spec.DType = dtype
	return r
}

// TestOwnLoss is X21 for a temperature without a target of the entropy, by its own loss.
func TestOwnLoss(t *testing.T) {
	run := func(dtype string, off func(i int) float64) *loopRun {
		return newRun(500).add("param.log_alpha", dump.StageParam, nil, func(int, int) float64 { return -6.90625 }).typed("param.log_alpha", dtype).
			add("loss.alpha", dump.StageLoss, nil, func(i, _ int) float64 { return -6.90625 * (off(i) + 0.1*hash(i)) })
	}
	apart := func(int) float64 { return 1.5 }
	r := run("bfloat16", apart)
	c, d := r.judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	fixed := run("bfloat16", apart)
	fixed.man.Facts["sac.autotune"] = false
	for name, r := range map[string]*loopRun{
		"in full precision":              run("float32", apart),
		"an entropy near its target":     run("bfloat16", func(int) float64 { return 0 }),
		"one that goes around it":        run("bfloat16", func(i int) float64 { return float64(1 - 2*(i/10%2)) }),
		"a temperature that is fixed":    fixed,
		"one whose loss is not recorded": run("bfloat16", apart).drop("loss.alpha"),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X21).Text)
	}
}

// TestRoundedDiscount is X21 for a discount that low precision made one of.
func TestRoundedDiscount(t *testing.T) {
	run := func(configured, kept float64, dtype, name string) *loopRun {
		r := newRun(400).add(name, dump.StageParam, nil, func(int, int) float64 { return kept }).typed(name, dtype)
		r.man.Facts["ppo.gamma"] = configured
		return r
	}
	c, d := run(0.9985, 1, "bfloat16", "param.gamma").judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	for name, r := range map[string]*loopRun{
		"in full precision":            run(0.9985, 1, "float32", "param.gamma"),
		"rounded to another":           run(0.99, 0.98828125, "bfloat16", "param.gamma"),
		"one that low precision has":   run(0.98, 1, "bfloat16", "param.gamma"),
		"no discount is configured":    run(1, 1, "bfloat16", "param.gamma"),
		"the scale of a layer":         run(0.9985, 1, "bfloat16", "param.norm.gamma"),
		"a rate of another's schedule": run(0.9985, 1, "bfloat16", "param.lr_gamma"),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X21).Text)
	}
}
