package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// paramsBad is F11: parameters that were non-finite before the step in which
// anything else went bad.
func (c *Case) paramsBad() Feature {
	if r := c.root(); r.placed() {
		if _, ok := c.optimizerStep(r); ok {
			return idle("the step that made the parameters so is in the file (X23)")
		}
		if r.is(lr) {
			return idle("it began in the learning rate of the step that made the parameters so")
		}
	}
	seen := false
	for _, f := range c.fields {
		if !isWeight(f.kind, f.Stage) {
			continue
		}
		seen = true
		if o, ok := f.firstBad(); ok && c.tripped != nil && (o.tick < c.tripped.tick || c.tripped.field == f.Name) {
			return found(yes, fmt.Sprintf("%s is %s from tick %d on, before anything else", f.Name, words[o.class], o.tick)).onset(&o)
		}
	}
	if !seen {
		return unmeasured("parameters")
	}
	return found(no, "every recorded parameter was finite until then")
}

// learnerBlowUp is X3: the learner ran away with envs that were fine.
func (c *Case) learnerBlowUp() Feature {
	if c.first(param, grad, loss, lr) == nil {
		return unmeasured("loss, gradients, learning rate or parameters")
	}
	r := c.root()
	if f, ok := c.firstOf((*Case).climbing, (*Case).expanding, (*Case).unpaid, (*Case).outrun, (*Case).hotTemperature, (*Case).overstepped); ok && r == nil {
		f.Value = yes
		return f
	}
	if r == nil && c.ranks().Value == yes {
		return idle(ranksOnly)
	}
	if !r.placed() {
		return found(no, "nothing of the learner ran away")
	}
	if r.f.kind < mean || r.is(reward, term) {
		return found(no, fmt.Sprintf("it began in the env (%s), not in the learner", r.name))
	}
	if f, ok := c.unstepped(r); ok {
		return f
	}
	return c.judgeLearner(r)
}

// The bounds of a learner that runs away: growth of the weights over the run and the
// size from which it counts, a move of the std in one gradient step, and the growth
// of a loss that was on its way up.
const (
	weightGrowth = 10.0
	weightSize   = 10.0
	stdMove      = 0.5
	lossGrowth   = 100.0
)

// judgeLearner weighs the signs of a learner that runs away: a learning rate
// that no optimizer bears, weights that grew tenfold, and a loss or gradient
// out of all proportion where the root itself is the learner.
func (c *Case) judgeLearner(r *step) Feature {
	for _, look := range []func(*step) (Feature, bool){c.batchBursts, c.recurrence} {
		if f, ok := look(r); ok {
			return f
		}
	}
	if f := c.first(lr); f != nil {
		if r.f == f && nonFinite(r.class) {
			return found(yes, fmt.Sprintf("the learning rate itself became %s: what it is computed from (a KL of exactly zero, a schedule past its end) leaves its domain", words[r.class])).in(f, -1, r.col, r.tick)
		}
		if v := f.largest(c.deadline()); v >= loop[lr].floor {
			out := found(yes, fmt.Sprintf("the learning rate is %s", num(v))+c.weights()).in(f, -1, 0, r.tick)
			out.Measured, out.Baseline = v, loop[lr].floor
			return out
		}
	}
	if f, grown := c.grownWeights(); f != nil {
		out := found(yes, fmt.Sprintf("%s grew %s over the run, to %s", f.Name, times(grown), num(f.largest(c.deadline())))).in(f, -1, -1, r.tick)
		out.Measured, out.Baseline = grown, weightGrowth
		return out
	}
	if f, stride := c.stdStride(); stride >= stdMove && !c.weightsStay(stride) {
		out := found(yes, fmt.Sprintf("%s moved by %s %s, which no sane learning rate does", f.Name, num(stride), f.perRecord())).in(f, -1, -1, r.tick)
		out.Measured, out.Baseline = stride, stdMove
		return out
	}
	if k := r.f.kind; k == loss || k == grad || k == value || k == mean || k == param && !nonFinite(r.class) {
		if bad, all := r.share(); all >= batchWidth && bad*4 <= all && nonFinite(r.class) {
			return found("partial", fmt.Sprintf("%s is %s in %d of the %d samples of a batch, and fine in the others: one network makes them all", r.name, words[r.class], bad, all)).in(r.f, r.env, max(r.col, 0), r.tick)
		}
		if g, ok := c.stdFell(); ok && r.class == "nan" {
			return idle(fmt.Sprintf("%s fell to next to zero before %s went bad: that drives every ratio and loss up, as a learner that explodes does, and what the update made of it is not recorded", g.Name, r.name))
		}
		if c.sudden(r) {
			return found("sudden", fmt.Sprintf("%s is %s at once, out of an ordinary range", r.name, words[r.class])).in(r.f, r.env, max(r.col, 0), r.tick)
		}
		if r.class == "nan" && r.first() && r.row >= 0 && !c.newborn(r) {
			return idle(fmt.Sprintf("%s is NaN in the first record that the file holds of it: whether it was on its way up is not shown", r.name))
		}
		return found(yes, fmt.Sprintf("%s ran away first, from inputs that were fine", r.name)).in(r.f, r.env, max(r.col, 0), r.tick)
	}
	return found(no, "learning rate, weights and gradients are in a usual range")
}

// batchWidth is from how many columns on a learner's field is a batch of samples.
const batchWidth = 16

// share returns how many columns of a step's frame are non-finite, of all.
func (s *step) share() (bad, all int) {
	if s.row < 0 {
		return 0, 0
	}
	return int(s.f.cell(s.frame, s.row).bad), s.f.to - s.f.from
}

// sudden reports whether a value of the learner became NaN in one step out of
// ordinary ones, and nothing else of the learner was on its way up.
func (c *Case) sudden(r *step) bool {
	if _, ok := c.squashedLoss(r); ok {
		return true
	}
	return r.class == "nan" && (!r.first() || c.newborn(r)) && c.quietBefore(r)
}

// quietBefore reports whether no loss, gradient or value was on its way up before a
// step.
func (c *Case) quietBefore(r *step) bool {
	return !slices.ContainsFunc(c.fields, func(f *field) bool {
		if f.kind != loss && f.kind != grad && f.kind != value {
			return false
		}
		ticks, sizes := f.history()
		n, _ := slices.BinarySearch(ticks, r.tick)
		return n >= 4 && sizes[n-1] > lossGrowth*median(sizes[:n/2])
	})
}

// stdStride returns the typical move of a std parameter in one gradient step,
// over the first steps that the trace or the frames hold.
func (c *Case) stdStride() (*field, float64) {
	f := c.first(paramStd, logStd)
	if f == nil || f.Stage != dump.StageParam {
		return nil, 0
	}
	var lows, moves []float64
	for j := 0; f.trace != nil && j < min(len(f.trace.Ticks), 6); j++ {
		lows = append(lows, at(f.trace.Min, j))
	}
	for i := 0; f.trace == nil && i < min(f.len(), 6); i++ {
		lows = append(lows, f.cell(i, 0).min)
	}
	for j := 1; j < len(lows); j++ {
		moves = append(moves, math.Abs(lows[j]-lows[j-1]))
	}
	return f, quiet(moves, true)
}

// perRecord says what lies between two records of a parameter.
func (f *field) perRecord() string {
	if f.Clock == dump.ClockMinibatch {
		return "in a single gradient step"
	}
	return "from one record to the next"
}

// strideApart is how many times the stride of every weight that of the std must be to
// be its own: one learning rate moves both about alike.
const strideApart = 30.0

// weightsStay reports whether weights of a network are recorded, and none of them moves
// by anything like the stride of the std: then the learning rate is not to blame, but
// what drives the std alone, such as a bonus for entropy.
func (c *Case) weightsStay(stride float64) bool {
	seen := false
	for _, f := range c.fields {
		if f.kind != param || f.Stage != dump.StageParam {
			continue
		}
		for i := 1; i < f.len() && f.frames.Ticks[i] < c.deadline(); i++ {
			for col := range f.to - f.from {
				if strideApart*math.Abs(f.at(i, 0, col)-f.at(i-1, 0, col)) > stride {
					return false
				}
			}
			seen = seen || f.to-f.from >= someWeights
		}
	}
	return seen
}

// someWeights is from how many columns on a parameter is of a network.
const someWeights = 4

// weights says how the weights grew, "" when they did not.
func (c *Case) weights() string {
	f, grown := c.grownWeights()
	if f == nil {
		return ""
	}
	return fmt.Sprintf(", and %s grew %s, to %s", f.Name, times(grown), num(f.largest(c.deadline())))
}

// grownWeights returns the parameters that grew most, if tenfold and above ten.
func (c *Case) grownWeights() (*field, float64) {
	var best *field
	most := 0.0
	for _, f := range c.fields {
		if f.kind != param {
			continue
		}
		was, is := f.earliest(), f.largest(c.deadline())
		if was > 0 && is > weightSize && is >= weightGrowth*was && is/was > most && f.mostly(weightSize) {
			best, most = f, is/was
		}
	}
	return best, most
}

// mostly reports whether at least half of the columns of the last frame are
// larger than a bound: one of many is a single parameter, no network.
func (f *field) mostly(bound float64) bool {
	if f.len() == 0 {
		return true
	}
	n, cols := 0, f.to-f.from
	for col := range cols {
		if math.Abs(f.at(f.len()-1, 0, col)) > bound {
			n++
		}
	}
	return 2*n >= cols
}

// largest returns the largest finite size of a field before a tick.
func (f *field) largest(t int64) float64 {
	most := 0.0
	for i := range f.len() {
		for row := 0; row < f.rows && f.frames.Ticks[i] <= t; row++ {
			most = math.Max(most, f.cell(i, row).max)
		}
	}
	for j := 0; f.trace != nil && j < len(f.trace.Ticks) && f.trace.Ticks[j] <= t; j++ {
		most = math.Max(most, at(f.trace.AbsMax, j))
	}
	return most
}

// earliest returns the first size of a field that is known, 0 without any.
func (f *field) earliest() float64 {
	if f.trace != nil && len(f.trace.AbsMax) > 0 {
		return at(f.trace.AbsMax, 0)
	}
	if f.len() > 0 {
		return f.cell(0, 0).max
	}
	return 0
}

// unsteppedRise is the factor by which an output of a network must leap to be out
// of reach of parameters of ordinary size.
const unsteppedRise = 1e10

// unstepped finds a policy's mean or a value that leapt by tens of decades while
// the parameters, gradients and learning rate of the last update before it were of
// an ordinary size: no step of the learner stands behind that.
func (c *Case) unstepped(r *step) (Feature, bool) {
	if !r.is(mean, value) || r.class != huge || r.row < 0 || r.first() {
		return Feature{}, false
	}
	if was := r.f.cell(r.frame-1, r.row).max; r.size < unsteppedRise*max(was, r.f.base) || !c.learnerFine(r.tick) {
		return Feature{}, false
	}
	return found("unstepped", fmt.Sprintf("%s leapt to %s although parameters, gradients and learning rate were small in the last update before it: no step of the learner did that, something else wrote to memory",
		r.name, num(r.size))).in(r.f, r.env, max(r.col, 0), r.tick), true
}

// learnerFine reports whether parameters and gradients were recorded in frames
// before a tick, and nothing of the last update was out of its usual range.
func (c *Case) learnerFine(t int64) bool {
	seen := map[kind]bool{}
	for _, f := range c.fields {
		i := f.upTo(t - 1)
		if f.kind != param && f.kind != grad && f.kind != lr || i < 0 {
			continue
		}
		if f.badRows(i) > 0 {
			return false
		}
		seen[f.kind] = true
	}
	return seen[param] && seen[grad]
}

// newborn reports whether the first record that the file holds of a step's field
// is the first that there was: by its count, or because others of its clock have
// frames from before it.
func (c *Case) newborn(s *step) bool {
	if !s.first() || s.f.len() == 0 || s.f.trace != nil && len(s.f.trace.Ticks) > 0 && s.f.trace.Ticks[0] < s.tick {
		return false
	}
	if s.count <= 1 { // guards count from zero or from one
		return true
	}
	for _, g := range c.fields {
		if g.Clock == s.f.Clock && g.len() > s.f.len() && g.frames.Ticks[0] < s.tick {
			return true
		}
	}
	return false
}
