package rootcause

import (
	"fmt"
	"math"
	"strings"
)

// scaleWords are in the names of the factor that a loss is multiplied by in half
// precision.
var scaleWords = []string{"loss_scale", "loss.scale", "grad_scale", "grad.scale", "scaler", "amp.scale", "amp_scale"}

// unscaledMost is the largest gradient, before it was multiplied, that is ordinary:
// float16 ends at 65504, and only a scale takes one so small there.
const unscaledMost = 1e4

// scaledOver is the part of X21 for float16: a gradient is infinite at once while
// every loss, and every gradient before it, is finite and ordinary. The scale of the
// loss took it past 65504; a scaler that works skips that step and halves the scale.
// One that is NaN ("half") may be two infinities that met, or a derivative without a
// value.
func (c *Case) scaledOver() (Feature, bool) {
	r := c.root()
	if !r.is(grad) || r.row < 0 || r.frame == 0 || !nonFinite(r.class) || !c.lossesFine(r) {
		return Feature{}, false
	}
	for i := range r.frame {
		if cell := r.f.cell(i, r.row); cell.bad > 0 || cell.max > unscaledMost {
			return Feature{}, false
		}
	}
	by := c.lossScale(r)
	if by == "" && c.halfFloats() {
		by = "the run computes in float16, which ends at 65504"
	}
	if by == "" {
		return Feature{}, false
	}
	if r.class == "nan" {
		return found("half", fmt.Sprintf("%s is NaN at tick %d while every loss is finite, and %s: infinities that meet in float16 make a NaN as well, so it may be the scale of the loss or a derivative that has no value", r.name, r.tick, by)).in(r.f, -1, max(r.col, 0), r.tick), true
	}
	out := found(yes, fmt.Sprintf("%s is %s at tick %d while every loss is finite and the gradients before it were at most %s; %s: the scale of the loss overflowed them, not the learner",
		r.name, words[r.class], r.tick, num(r.f.largest(r.tick)), by))
	out.Measured, out.Baseline = r.f.largest(r.tick), unscaledMost
	return out.in(r.f, -1, max(r.col, 0), r.tick), true
}

// lossScale says how large the scale of the loss was in a step of the learner, ""
// where it is not recorded or no power of two above one.
func (c *Case) lossScale(r *step) string {
	for _, f := range c.fields {
		i := f.upTo(r.tick)
		if !about(f.Name, scaleWords...) || f.PerEnv || i < 0 || f.Clock != r.f.Clock {
			continue
		}
		v := f.at(i, 0, 0)
		if frac, _ := math.Frexp(v); v > 1 && frac == 0.5 {
			return fmt.Sprintf("%s is %s", f.Name, num(v))
		}
	}
	return ""
}

// halfFloats reports whether the run says that it computes in float16.
func (c *Case) halfFloats() bool {
	on, ok := c.fact("amp.enabled")
	t := strings.ToLower(c.text("amp.dtype"))
	return ok && on != 0 && (strings.Contains(t, "float16") && !strings.Contains(t, "bfloat16") || t == "half" || t == "fp16")
}
