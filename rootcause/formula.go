package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/tensor"
)

// controlFormula is the part of X23 for the way from action to control: a control
// that is not finite although its action and the state before it are. The
// simulator only reads controls, so the formula is the task's.
func (c *Case) controlFormula(r *step) (Feature, bool) {
	if r.f.kind != ctrl || !nonFinite(r.class) || r.row < 0 || !c.fineInput(action, r) || !c.fineState(r) {
		return Feature{}, false
	}
	return found("control", fmt.Sprintf("%s%s is %s from a finite action over a finite state: what makes controls of actions is code of the task, not the simulator",
		r.f.label(max(r.col, 0)), inEnv(r.env), words[r.class])).in(r.f, r.env, max(r.col, 0), r.tick), true
}

// fineInput reports whether the last value of a kind that a step of an env can
// have read is in the file, finite and ordinary.
func (c *Case) fineInput(k kind, r *step) bool {
	g := c.first(k)
	i, row := g.upTo(r.tick), g.row(r.env)
	return i >= 0 && row >= 0 && g.state(i, row) == ""
}

// fineState reports whether no recorded part of the state of a step's env was bad
// in the frame before it.
func (c *Case) fineState(r *step) bool {
	for _, g := range c.fields {
		if i, row := g.upTo(r.tick-1), g.row(r.env); g.kind.isBody() && i >= 0 && row >= 0 && g.state(i, row) != "" {
			return false
		}
	}
	return true
}

// optimizerStep is the part of X23 for the step of the optimizer: a parameter that
// is NaN although the loss and every gradient of that step are finite.
func (c *Case) optimizerStep(r *step) (Feature, bool) {
	if !r.is(param, paramStd, logStd) || !nonFinite(r.class) || r.row < 0 || r.first() && !c.newborn(r) || !c.lossesFine(r) || !c.gradientsFine(r) {
		return Feature{}, false
	}
	return found("optimizer", fmt.Sprintf("%s is %s after a step whose loss and gradients are finite: the arithmetic of the optimizer did it (0/0 where a gradient was always zero and eps is zero)",
		r.f.label(max(r.col, 0)), words[r.class])).in(r.f, -1, max(r.col, 0), r.tick), true
}

// gradientsFine reports whether gradients are recorded in the gradient step of s,
// and all of them are finite and ordinary.
func (c *Case) gradientsFine(s *step) bool {
	seen := false
	for _, f := range c.fields {
		i := f.upTo(s.tick)
		if f.kind != grad || i < 0 || f.frames.Ticks[i] <= s.before {
			continue
		}
		if f.badRows(i) > 0 {
			return false
		}
		seen = true
	}
	return seen
}

// density is X23: a log-probability that is not finite although the action and
// the distribution that it was taken from are: a squashed action at its bound. The
// same of a control, and of a parameter.
func (c *Case) density() Feature {
	if f, ok := c.firstOf(ofRoot((*Case).controlFormula), ofRoot((*Case).optimizerStep), ofRoot((*Case).networkFormula), ofRoot((*Case).noSpread), ofRoot((*Case).zeroDivision), ofRoot((*Case).noAction), ofRoot((*Case).squashedLoss)); ok {
		return f
	}
	r := c.root()
	if !r.is(logProb) {
		return idle("no log-probability went bad first")
	}
	if _, bursts := c.batchBursts(r); bursts || !nonFinite(r.class) || !c.inputsKnown() || c.is(F10, yes) {
		return found(no, fmt.Sprintf("%s went bad with what it was made from", r.name))
	}
	return found(yes, fmt.Sprintf("%s%s is %s from an action, mean and std that are finite: the formula of the density left its domain%s", r.name, inEnv(r.env), words[r.class], c.atSquash(r))).in(r.f, r.env, max(r.col, 0), r.tick)
}

// squashed is from where on an action of a tanh counts as at its bound: float32
// rounds a tanh to one soon behind it, and log(1-a*a) and atanh have no value there.
const squashed = 0.99999

// atSquash says that the action of a step's env sits at the bound of a tanh, "" where
// it does not.
func (c *Case) atSquash(r *step) string {
	for _, f := range c.fields {
		i, row := f.upTo(r.tick), f.row(r.env)
		if f.kind != action || i < 0 || row < 0 {
			continue
		}
		if cell := f.cell(i, row); cell.max >= squashed && cell.max <= 1 {
			return fmt.Sprintf("; %s is %s, at the bound of a tanh, where log(1-a*a) and atanh have no value", f.label(int(cell.arg)), num(f.at(i, row, int(cell.arg))))
		}
	}
	return ""
}

// The signs that actions are of a tanh: some are next to one without being one, a share
// of these at least. Where they are cut off at one, hardly any is next to it.
const (
	nextToOne  = 0.999
	squashLeft = 3
	squashPart = 0.05
)

// squashedLoss is the part of X23 for a loss that is infinite at once while the values
// of that step are finite, in a run whose actions come from a tanh that float32 has
// rounded to one: the log-likelihood of such an action is not finite.
func (c *Case) squashedLoss(r *step) (Feature, bool) {
	if !r.is(loss) || r.class != "posinf" && r.class != "neginf" || r.row < 0 || r.first() || !c.quietBefore(r) || !c.valuesBeside(r) {
		return Feature{}, false
	}
	a, n := c.squashedAction(r.tick)
	if a == nil {
		return Feature{}, false
	}
	return found("bound", fmt.Sprintf("%s is %s at once, out of an ordinary range and beside values that are finite, and %s is exactly 1 or -1 in %d records: float32 rounds a tanh to one, where the log-likelihood of a replayed action (atanh, log(1-a*a)) is not finite",
		r.name, words[r.class], a.Name, n)).in(r.f, r.env, max(r.col, 0), r.tick), true
}

// squashedAction returns the action that a tanh makes and that was exactly at its bound
// before a tick, and how often; nil without one.
func (c *Case) squashedAction(t int64) (*field, int) {
	for _, f := range c.fields {
		if f.kind != action || f.len() == 0 || f.frames.Values.DType == tensor.Float16 { // which has few numbers next to one
			continue
		}
		exact, near, beyond := 0, 0, false
		for i := range f.upTo(t) + 1 {
			for row := range f.rows {
				for col := range f.to - f.from {
					switch v := math.Abs(f.at(i, row, col)); {
					case v == 1:
						exact++
					case v > 1:
						beyond = true
					case v > nextToOne:
						near++
					}
				}
			}
		}
		if !beyond && exact > 0 && near >= squashLeft && float64(near) >= squashPart*float64(exact) {
			return f, exact
		}
	}
	return nil, 0
}

// valuesBeside reports whether a value or another loss is recorded in the gradient step
// of s, and every value of it finite and ordinary.
func (c *Case) valuesBeside(s *step) bool {
	seen := false
	for _, f := range c.fields {
		i := f.upTo(s.tick)
		if f.kind != value && f.kind != loss || f.Clock != s.f.Clock || i < 0 || f.frames.Ticks[i] <= s.before {
			continue
		}
		fine := f.badRows(i) == 0
		if f.kind == value && !fine {
			return false
		}
		seen = seen || fine
	}
	return seen
}
