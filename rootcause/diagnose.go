package rootcause

import (
	"cmp"
	"math"
	"slices"
)

// Options says how to rank. Start from DefaultOptions.
type Options struct {
	Prior   Prior    // what is believed before any evidence
	Weights *Weights // nil for those that were fitted
}

// weights returns those to use.
func (o Options) weights() *Weights {
	if o.Weights != nil {
		return o.Weights
	}
	return fitted
}

// DefaultOptions returns the options that rank labelled dumps best (docs/causes.md
// has the figures): the textbook's prior.
func DefaultOptions() Options { return Options{Prior: TextbookPrior} }

// Diagnose ranks the causes of a case and fills the checklist.
func Diagnose(c *Case, o Options) Diagnosis {
	d := Diagnosis{
		Prior: o.Prior.String(), Coverage: round(c.coverage()), Causes: []Hypothesis{}, Shown: []string{}, Order: c.onsets(),
		Warnings: append([]string{}, c.warnings...), Next: []Action{},
	}
	if c.tripped != nil {
		p := c.tripped.public()
		d.FirstBad, d.Root = &p, &p
	}
	if r := c.root(); r != nil && !c.isTrip(r) {
		o := r.onset()
		o.envs = max(1, c.countBadIn(r))
		p := o.public()
		d.Root = &p
	}
	if c.clean() {
		d.Verdict = Clean
		d.Checklist = c.checklist()
		return d
	}
	f, w := c.Findings(), o.weights()
	cs, ws := f.Balance(o.Prior).weigh(w)
	d.Verdict = f.verdict(sorted(cs), w)
	d.Causes = c.hypotheses(cs, ws)
	d.Shown = shown(d.Causes)
	d.Checklist = c.checklist()
	d.Next = c.next(cs, d.Checklist, d.Verdict != UnknownCause)
	if d.Coverage < 0.4 {
		d.Warnings = append(d.Warnings, c.lowCoverage())
	}
	return d
}

// modelTells reports whether the model file alone is evidence: a fault in it is
// one whichever env's rows are in the dump.
func (c *Case) modelTells() bool {
	return c.is(X6, "impossible", "unstable") || c.is(X14, "hard", "coarse")
}

// isTrip reports whether a step is the trip itself.
func (c *Case) isTrip(s *step) bool {
	return c.tripped != nil && s.name == c.tripped.field && s.tick == c.tripped.tick
}

// clean reports whether nothing at all is wrong. A full buffer alone is a
// warning: a run lives with it as long as its physics is healthy.
func (c *Case) clean() bool { return c.healthy() && !c.is(F12, yes) }

// healthy reports whether no value and no word of the run is out of order.
func (c *Case) healthy() bool { return len(c.wrong) == 0 }

// ifWrong returns words about when it began, "" where nothing did.
func (c *Case) ifWrong(words string) string {
	if c.healthy() {
		return ""
	}
	return words
}

// factor corrects the prior of the normalizer by what the run says of it: with
// an eps of a hundredth in the denominator (RSL-RL) there is no division by zero,
// and without a normalizer there is none at all.
func (c *Case) factor(cause string) float64 {
	out := c.ruledOut(cause)
	if cause != NormalizerCold {
		return out
	}
	if v, ok := c.fact("normalizer.enabled"); ok && v == 0 {
		return 0.05 * out
	}
	if e := c.epsilon(); finite(e) && e >= 1e-3 {
		return 0.4 * out
	}
	return out
}

// sorted returns the candidates by falling posterior.
func sorted(cs []candidate) []candidate {
	r := slices.Clone(cs)
	slices.SortStableFunc(r, func(a, b candidate) int { return cmp.Compare(b.post, a.post) })
	return r
}

// Brief returns the ids of the brief's five causes in the order of its table.
func Brief() []string {
	return []string{ContactDivergence, RewardOverflow, NormalizerCold, PolicyStd, StaleGraph}
}

// shown orders causes, which fall in probability, as a report shows them.
func shown(causes []Hypothesis) []string {
	five := Brief()
	ids := slices.Clone(five)
	last := ""
	for i := range causes {
		switch id := causes[i].ID; {
		case id == UnknownCause:
			last = id
		case !slices.Contains(five, id):
			ids = append(ids, id)
		}
	}
	if last != "" {
		ids = append(ids, last)
	}
	return ids
}

// hypotheses returns the ranked causes with what speaks for and against each.
func (c *Case) hypotheses(cs []candidate, ws []weighing) []Hypothesis {
	hs := make([]Hypothesis, 0, len(cs))
	for _, k := range sorted(cs) {
		at := slices.IndexFunc(cs, func(x candidate) bool { return x.id == k.id })
		h := Hypothesis{ID: k.id, Title: k.title, Probability: k.post, Fix: k.fix(c), Evidence: []Evidence{}}
		for _, w := range ws {
			if math.Abs(w.nats[at]) >= notable {
				h.Evidence = append(h.Evidence, c.evidence(w, at, cs))
			}
		}
		slices.SortStableFunc(h.Evidence, func(a, b Evidence) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
		h.Missing = c.unasked(k.index)
		if k.id == UnknownCause {
			h.Evidence = append(h.Evidence, c.unseen()...)
		}
		hs = append(hs, h)
	}
	return hs
}

// notable is the weight in nats below which a fact is not listed.
const notable = 0.2

// evidence turns a weighing into a fact under one hypothesis.
func (c *Case) evidence(w weighing, at int, cs []candidate) Evidence {
	f := w.feature
	best := 0
	for i := range w.nats {
		if w.nats[i] > w.nats[best] {
			best = i
		}
	}
	e := Evidence{
		Feature: f.ID, Text: f.Text, Favours: cs[best].id, Weight: round(w.nats[at]),
		Field: f.Field, Env: envPtr(f.Env), Tick: f.Tick, Column: f.Column,
	}
	if f.Field != "" && f.Column != "" {
		col := f.Col
		e.Col = &col
	}
	return e
}

// onsets returns what went bad, in tick order, the precursors among them.
func (c *Case) onsets() []Onset {
	all := slices.Clone(c.order)
	for i := range c.chain {
		if s := &c.chain[i]; !nonFinite(s.class) {
			o := s.onset()
			o.envs = max(1, c.countBadIn(s))
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b onset) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.order, b.order))
	})
	out := make([]Onset, 0, len(all))
	for i := range all {
		out = append(out, all[i].public())
	}
	return out
}

// countBadIn counts the rows of the file that are bad in a step's frame.
func (c *Case) countBadIn(s *step) int {
	if s.f == nil || s.row < 0 {
		return 0
	}
	return s.f.badRows(s.frame)
}

// round keeps three decimals: more are noise in a report.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }
