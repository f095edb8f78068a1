package rootcause

import "slices"

// Balance is what findings say under one prior before any weights are laid on: the
// part of a ranking that stays as it is while weights are fitted. It does not
// change, so any number of goroutines may use it.
type Balance struct {
	findings *Findings
	running  []candidate
	said     []weighing
}

// Term is what one feature adds to the logarithm of the belief in each cause, in
// the order of the causes: as many times more as the feature is trusted more.
type Term struct {
	Feature FeatureID
	Nats    []float64
}

// Balance returns what the findings say under a prior.
func (f *Findings) Balance(p Prior) *Balance {
	cs := f.candidates(p)
	return &Balance{f, cs, say(f.features, cs)}
}

// Rank returns the causes in the running by falling belief, and the verdict.
func (b *Balance) Rank(w *Weights) (all []Belief, verdict string) {
	cs, _ := b.weigh(w)
	ranked := sorted(cs)
	return beliefs(ranked), b.findings.verdict(ranked, w)
}

// Weigh returns the causes in the running in the order of the catalogue, and what
// each feature adds to them.
func (b *Balance) Weigh(w *Weights) ([]Belief, []Term) {
	cs, ws := b.weigh(w)
	terms := make([]Term, len(ws))
	for i := range ws {
		terms[i] = Term{ws[i].feature.ID, ws[i].nats}
	}
	return beliefs(cs), terms
}

// weigh returns the causes in the running with their beliefs, and what each
// feature says to them.
func (b *Balance) weigh(w *Weights) ([]candidate, []weighing) {
	cs := slices.Clone(b.running)
	ws := tempered(b.said, cs, w, w.temperature(b.findings))
	keep(cs, w.unforeseen(b.findings))
	return cs, ws
}

// keep gives a share of the belief to "unknown": facts that all agree may still be
// about something else.
func keep(cs []candidate, share float64) {
	i := slices.IndexFunc(cs, func(c candidate) bool { return c.id == UnknownCause })
	if i < 0 {
		return
	}
	for k := range cs {
		cs[k].post *= 1 - share
	}
	cs[i].post += share
}

func beliefs(cs []candidate) []Belief {
	all := make([]Belief, len(cs))
	for i := range cs {
		all[i] = Belief{cs[i].id, cs[i].post}
	}
	return all
}
