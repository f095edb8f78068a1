package rootcause

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// Left-censoring: the first bad value that was recorded need not be where it
// began. What was not recorded upstream of it may have gone bad before, and then
// every cause that begins there is as good an explanation as one that begins
// where the recording does. So the likelihood of "first seen at this stage" is
// that of beginning there, and of beginning in each stage that is hidden.

// block is a set of kinds of which one that is recorded shows all: they go bad
// together, or within one step.
var blocks = [][]kind{
	body,
	{ctrl},
	{sensor, obs},
	{obsNorm, normVar, normMean},
	{mean, action},
	{std, paramStd, logStd},
	{logProb},
	{term, reward},
	{value},
	{loss, grad, param, lr},
}

// blockOf returns the block of a kind, nil for one that nothing is hidden in.
func blockOf(k kind) []kind {
	for _, b := range blocks {
		if slices.Contains(b, k) {
			return b
		}
	}
	return nil
}

// fade is what a hidden stage is worth less than the one behind it: between them
// lies another that may have held it up, or shown it elsewhere.
const fade = 0.5

// hide finds the classes of F1 in which it may have begun although they were not
// recorded, each with its weight: all that the root can have read, and what that
// was made from, up to where a record shows that things were fine.
func (c *Case) hide() map[string]float64 {
	r := c.root()
	switch {
	case r == nil && c.guardFired() && c.states != nil:
		r = &step{f: &field{kind: qvel}, row: -1, env: -1, tick: c.deadline()} // what its guard watches
	case !r.placed():
		return nil
	}
	if c.glided(r) {
		return nil // nothing ran away
	}
	out := map[string]float64{}
	seen := slices.Clone(blockOf(r.f.kind))
	if r.f.kind == action && c.first(mean) == nil {
		out[onLearner] = 1 // its mean
	}
	level := map[kind]float64{}
	for _, k := range r.reads() {
		if level[k] = 1; k == action && r.f.kind.isBody() {
			level[k] = fade // by way of the controls
		}
	}
	for len(level) > 0 {
		level, seen = c.upstream(level, seen, r, out)
	}
	if c.sharedReading(r) {
		out[onSensor] = 1
	}
	delete(out, loop[r.f.kind].onset)
	if r.partly() {
		for class := range out {
			out[class] *= implied
		}
	}
	return out
}

// upstream takes those of the kinds of one level that are hidden into out, and
// returns what they were made from: the next level.
func (c *Case) upstream(level map[kind]float64, seen []kind, r *step, out map[string]float64) (map[kind]float64, []kind) {
	next := map[kind]float64{}
	for _, b := range blocks {
		weight := 0.0
		for _, k := range b {
			weight = max(weight, level[k])
		}
		if weight == 0 || slices.Contains(seen, b[0]) || r.earliest() && !b[0].isBody() {
			continue
		}
		seen = append(seen, b...)
		if c.shown(b, r) {
			continue
		}
		weight *= c.doubt(b, r)
		for _, k := range b {
			class := loop[k].onset
			out[class] = max(out[class], weight)
			for _, in := range loop[k].reads {
				next[in] = max(next[in], weight*fade)
			}
		}
	}
	return next, seen
}

// earliest reports whether a step is of the first record of the whole run: then
// nothing but the state can have been before it.
func (s *step) earliest() bool { return s.first() && s.count <= 1 && s.f.frames != nil }

// implied is what is left of a hidden stage when what was made from it says that
// it was fine.
const implied = 0.03

// doubt returns how likely it is that a hidden block went bad before the root
// did. An observation shows the state: a single part of it that is bad, or all of
// it that is finite, leaves little doubt that the state was fine.
func (c *Case) doubt(b []kind, r *step) float64 {
	if !b[0].isBody() {
		if slices.Contains(b, obsNorm) && (r.f.kind.isLearner() && c.rolloutFine(r) || c.siblingFine(r)) {
			return implied
		}
		return 1
	}
	switch o, at := c.observed(r); {
	case r.is(mean, std, value, action, logProb) && r.env >= 0 && r.row >= 0 && c.seesFine(r):
		return implied
	case r.is(obs, sensor) && r.row >= 0 && (r.local() || c.restGoesOn(r)):
		return implied
	case o != nil && (o.class == "" || o.local()) && at:
		return implied
	case c.fineAfter(b, r), c.sumAlone(r):
		return implied
	}
	return 1
}

// siblingFine reports whether the critic made finite and ordinary values of the
// normalized observations of which the policy made something bad in the same record,
// or the policy of those of which the critic did.
func (c *Case) siblingFine(r *step) bool {
	var other kind
	switch {
	case r.is(mean, std, action, logProb):
		other = value
	case r.is(value):
		other = mean
	default:
		return false
	}
	for _, g := range c.fields {
		i := g.upTo(r.tick)
		if g.kind == other && g.PerEnv && g.Clock == r.f.Clock && i >= 0 && g.frames.Ticks[i] == r.tick && !about(g.Name, fillerWords...) {
			return g.badRows(i) == 0
		}
	}
	return false
}

// rolloutFine reports whether what the policy or the critic made of its normalized
// observations was finite and ordinary in every record of the rollout before a step
// of the learner: then these were.
func (c *Case) rolloutFine(r *step) bool {
	seen := false
	for _, g := range c.fields {
		if g.kind != mean && g.kind != value && g.kind != logProb || g.Clock != dump.ClockStep || !g.PerEnv || g.upTo(r.tick) < 0 {
			continue
		}
		for i := g.upTo(r.tick); i >= 0 && g.frames.Ticks[i] > c.rollout(r); i-- {
			if g.badRows(i) > 0 {
				return false
			}
			seen = true
		}
	}
	return seen
}

// fineAfter reports whether a frame of the physics that was taken after a step is
// finite and ordinary in its env, which was not reset in between: what runs away
// does not come back by itself.
func (c *Case) fineAfter(b []kind, r *step) bool {
	for _, g := range c.fields {
		row, i := g.row(r.env), g.upTo(r.tick)+1
		if !slices.Contains(b, g.kind) || r.env < 0 || row < 0 || i >= g.len() {
			continue
		}
		if g.state(i, row) == "" && !cutBetween(c.resets[r.env], r.tick, g.frames.Ticks[i]+1) {
			return true
		}
	}
	return false
}

// observed returns the first observation that was made after a reward or sensor went bad,
// in its env. at is false when the env was reset in between.
func (c *Case) observed(r *step) (s *step, at bool) {
	o := c.first(obs)
	row := o.row(r.env)
	if o.len() == 0 || row < 0 || r.env < 0 || !r.is(reward, term, sensor) || o.to-o.from < 8 {
		return nil, false
	}
	i := o.upTo(r.tick-1) + 1
	if i >= o.len() {
		return nil, false
	}
	reset := i > 0 && cutBetween(c.resets[r.env], o.frames.Ticks[i-1], o.frames.Ticks[i]+1)
	return &step{f: o, row: row, frame: i, env: r.env, class: o.state(i, row)}, !reset
}

// sharedReading reports whether an observation went bad in the step in which a
// reward did: they may have read the same sensor.
func (c *Case) sharedReading(r *step) bool {
	o, _ := c.observed(r)
	return o != nil && o.class != "" && r.f.kind != sensor && c.first(sensor) == nil
}

// local reports whether few columns of a frame are non-finite, or one part of
// many, while the others are of an ordinary size.
func (s *step) local() bool {
	if !nonFinite(s.class) {
		return false
	}
	bad, cols := 0, s.f.to-s.f.from
	parts, badParts := map[string]bool{}, map[string]bool{}
	for col := range cols {
		if v := s.f.at(s.frame, s.row, col); !finite(v) || math.Abs(v) > s.f.limit {
			bad++
			badParts[s.f.part(col)] = true
		}
		parts[s.f.part(col)] = true
	}
	return cols >= 8 && (bad*4 <= cols || len(badParts) == 1 && len(parts) >= 4)
}

// part names the part of an observation that a column belongs to: its label
// without the index.
func (f *field) part(col int) string {
	name, _, _ := strings.Cut(f.column(col), "[")
	return name
}

// shown reports whether the file holds something of a block from before a step,
// in the step's env. It was fine there, or the walk would have gone on to it.
func (c *Case) shown(b []kind, r *step) bool {
	return slices.ContainsFunc(c.fields, func(g *field) bool {
		return g != r.f && slices.Contains(b, g.kind) && g.showsBefore(r) && !c.outdated(g, r)
	})
}

// outdated reports whether a policy's mean or std was recorded in the rollout
// only, for a root that lies in the update after it: the parameters moved since.
func (c *Case) outdated(g *field, r *step) bool {
	return (g.kind == std || g.kind == mean) && g.Clock == dump.ClockStep &&
		r.f.kind.isLearner() && r.f.Clock != dump.ClockStep
}

// showsBefore reports whether the field holds a frame of the step's env, or a
// trace, from before the step.
func (f *field) showsBefore(r *step) bool {
	until := r.tick
	if f.pos < r.f.pos && !r.first() {
		until++ // made in the same tick, before it
	}
	if row := f.row(r.env); f.len() > 0 && (r.env < 0 || row >= 0) && f.upTo(until-1) >= 0 {
		return true
	}
	return f.entryBefore(until) >= 0
}

// first reports whether a step lies in the first record that the file holds of
// its field: when it began is not known.
func (s *step) first() bool { return s.frame == 0 }

// hides returns how likely it is that a cause begins in a stage that is hidden.
func (c *Case) hides(k *cause) float64 {
	at := indexOf(k.id)
	share := func(class string) float64 {
		if p, ok := likelihood(F1, class, 0); ok {
			return p[at]
		}
		return 0
	}
	sum := 0.0
	for _, class := range slices.Sorted(maps.Keys(c.hidden)) {
		sum += c.hidden[class] * share(class)
	}
	if r := c.root(); len(c.hidden) == 0 && r.placed() && r.first() && !r.earliest() && r.row >= 0 {
		sum += share(loop[r.f.kind].onset) // it may have begun there before the record does
	}
	return sum
}

// often is the share of a cause's cases that must begin in hidden stages for it
// to stay in the running without a fact of its own.
const often = 0.4

// open reports whether a cause that enters on evidence only stays in the running
// because the stages that would have shown the evidence are not recorded.
func (c *Case) open(k *cause) bool {
	switch k.id {
	case RankDesync:
		return c.is(F1, onLearner) && c.is(X20, unknown) && (c.man.Run.WorldSize > 1 || c.severalRanks())
	case AutodiffSingular:
		return c.is(F1, onLearner) && c.first(grad) == nil
	}
	if c.is(F1, onPhysics) && c.untold(k.id) {
		return true
	}
	return hasColumn(k.id) && c.hides(k) >= often
}

// untold reports whether nothing that would show a cause of runaway physics is
// recorded.
func (c *Case) untold(cause string) bool {
	switch cause {
	case BadReset:
		r := c.root()
		return len(c.resets) == 0 && c.is(X5, unknown) && c.is(X11, unknown) && r != nil && r.row >= 0 && r.frame < enough && !r.earliest()
	case ActionExplosion:
		return c.first(ctrl, action, mean) == nil
	case ContactCapacity:
		return c.is(F4, unknown) && c.is(X12, unknown) && c.counterNamed("nefc", "ncon", "nacon") == nil
	}
	return false
}

// sumAlone reports whether a total reward is not finite while every term of it
// that is recorded is, in the same record: then nothing under the terms did it.
func (c *Case) sumAlone(r *step) bool {
	if r.f.kind != reward || !nonFinite(r.class) || r.row < 0 {
		return false
	}
	seen := false
	for _, f := range c.fields {
		i, row := f.upTo(r.tick), f.row(r.env)
		if f.kind != term || f.len() == 0 || row < 0 || i < 0 || f.frames.Ticks[i] != r.tick {
			continue
		}
		if f.state(i, row) != "" {
			return false
		}
		seen = true
	}
	return seen
}
