package rootcause

// Findings are what a ranking rests on, without the dump: the features, the
// causes in the running, and how much of it all was recorded.
type Findings struct {
	features []Feature
	running  []entrant
	coverage float64
	censored bool // it may have begun in what is not recorded
	barred   bool // nothing that was recorded can earn a verdict
	pairs    []undecided
}

// entrant is a cause in the running; factor corrects its prior by what the run
// says of itself.
type entrant struct {
	index  int
	factor float64
}

// Belief is a cause with its share of the belief.
type Belief struct {
	Cause       string
	Probability float64
}

// Findings returns what the ranking of the case rests on.
func (c *Case) Findings() *Findings {
	f := &Findings{
		features: c.features, coverage: c.coverage(), censored: c.censored(),
		barred: (c.culpritsUnseen() || c.root() == nil && c.guardFired()) && !c.modelTells() || c.wordsAlone(), pairs: c.undecided(),
	}
	for i := range catalogue {
		if k := &catalogue[i]; k.enters == nil || k.enters(c) || c.open(k) {
			f.running = append(f.running, entrant{i, c.factor(k.id)})
		}
	}
	return f
}

// wordsAlone reports whether nothing but what the run ended with says that anything is
// wrong, and that is about no machine and no buffer: what became NaN is not in the file.
func (c *Case) wordsAlone() bool {
	return c.root() == nil && c.said > 0 && c.said == len(c.wrong) &&
		c.is(X9, "std", "other") && !c.is(F4, yes, "said") && !c.is(F12, yes)
}

// censored reports whether it may have begun in what is not recorded.
func (c *Case) censored() bool {
	r := c.root()
	if !r.placed() {
		return true
	}
	return len(c.hidden) > 0 || r.row >= 0 && r.first() && !r.earliest()
}

// Known returns the features that say something.
func (f *Findings) Known() []FeatureID {
	var ids []FeatureID
	for i := range f.features {
		if f.features[i].known() {
			ids = append(ids, f.features[i].ID)
		}
	}
	return ids
}

// Rank returns the causes in the running by falling belief, and the verdict.
func (f *Findings) Rank(o Options) (all []Belief, verdict string) {
	return f.Balance(o.Prior).Rank(o.weights())
}

// verdict returns the first of the ranked causes if it has earned it.
func (f *Findings) verdict(ranked []candidate, w *Weights) string {
	if f.barred || !w.earned(f, ranked) {
		return UnknownCause
	}
	if _, open := between(f.pairs, ranked); open {
		return UnknownCause
	}
	return ranked[0].id
}

// candidates returns the causes in the running with their priors.
func (f *Findings) candidates(p Prior) []candidate {
	cs := make([]candidate, len(f.running))
	sum := 0.0
	for i, e := range f.running {
		k := &catalogue[e.index]
		cs[i] = candidate{cause: k, index: e.index, prior: k.prior[p] * e.factor}
		sum += cs[i].prior
	}
	for i := range cs {
		cs[i].prior /= sum
	}
	return cs
}
