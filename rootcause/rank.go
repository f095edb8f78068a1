package rootcause

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// The combination of evidence: features are not independent, so all of it is
// tempered, correlated members of a group beyond the strongest count half, and
// no single feature may say more than mostNats.
const (
	temper   = 0.8
	echo     = 0.5
	mostNats = 4.0
	bearing  = 0.02 // a base rate is never taken to be smaller
)

// candidate is a cause in the running.
type candidate struct {
	*cause
	index int // column in the likelihood table
	prior float64
	post  float64
}

// weighing is what one feature says: per candidate the nats that it adds.
type weighing struct {
	feature *Feature
	group   string
	nats    []float64
}

// weigh returns what a feature says to the candidates: the log likelihood of
// each, centred on the prior mixture of all and capped. It is nil for an
// unknown feature.
func weigh(f *Feature, cs []candidate) []float64 {
	p, ok := likelihood(f.ID, f.Value, math.Max(f.Base, bearing))
	if !ok || !f.known() {
		return nil
	}
	for _, class := range slices.Sorted(maps.Keys(f.Hidden)) { // sorted, for sums of floats depend on their order
		if q, ok := likelihood(f.ID, class, 0); ok && class != f.Value {
			floats.AddScaled(p, f.Hidden[class], q)
		}
	}
	mixture := 0.0
	for i := range cs {
		mixture += cs[i].prior * p[cs[i].index]
	}
	w := make([]float64, len(cs))
	for i := range cs {
		w[i] = math.Max(-mostNats, math.Min(mostNats, math.Log(p[cs[i].index]/mixture)))
		if f.Half {
			w[i] /= 2
		}
	}
	return w
}

// combine weighs the features within their groups and fills in the posterior, at
// a temperature.
func combine(features []Feature, cs []candidate, by *Weights, temperature float64) []weighing {
	return tempered(say(features, cs), cs, by, temperature)
}

// say returns what the known features say, the members of each group together.
func say(features []Feature, cs []candidate) []weighing {
	groups := map[string][]weighing{}
	var order []string
	for i := range features {
		w := weigh(&features[i], cs)
		if w == nil {
			continue
		}
		g := groupOf(features[i].ID)
		if !slices.Contains(order, g) {
			order = append(order, g)
		}
		groups[g] = append(groups[g], weighing{&features[i], g, w})
	}
	var all []weighing
	for _, g := range order {
		all = append(all, groups[g]...)
	}
	return all
}

// tempered returns what was said, each as far as it is trusted and counts in its
// group, and fills in the posterior.
func tempered(said []weighing, cs []candidate, by *Weights, temperature float64) []weighing {
	all := make([]weighing, len(said))
	for i, w := range said {
		trust := by.trust(w.feature.ID)
		nats := make([]float64, len(w.nats))
		floats.AddScaled(nats, trust, w.nats)
		all[i] = weighing{w.feature, w.group, nats}
	}
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].group == all[from].group {
			to++
		}
		temperGroup(all[from:to])
		from = to
	}
	for _, w := range all {
		floats.Scale(1/temperature, w.nats)
	}
	posterior(all, cs, by, temperature)
	return all
}

// temperGroup scales the members of a group: the strongest counts in full, the
// others half.
func temperGroup(ws []weighing) {
	strongest, most := 0, -1.0
	for i, w := range ws {
		if s := floats.Norm(w.nats, math.Inf(1)); s > most {
			strongest, most = i, s
		}
	}
	for i, w := range ws {
		scale := temper
		if i != strongest {
			scale *= echo
		}
		floats.Scale(scale, w.nats)
	}
}

// posterior adds up what the features say and normalises it to one.
func posterior(ws []weighing, cs []candidate, by *Weights, temperature float64) {
	logs := make([]float64, len(cs))
	for i := range cs {
		logs[i] = (math.Log(cs[i].prior) + by.Prior[cs[i].id]) / temperature
		for _, w := range ws {
			logs[i] += w.nats[i]
		}
	}
	sum := floats.LogSumExp(logs)
	for i := range cs {
		cs[i].post = math.Exp(logs[i] - sum)
	}
}

// groupOf returns the correlated group of a feature.
func groupOf(id FeatureID) string { return ruleOf(id).group }

// entropy returns the entropy of probabilities in nats.
func entropy(p []float64) float64 {
	h := 0.0
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log(x)
		}
	}
	return h
}

// expectedDrop returns by how much learning an unknown feature would lower the
// entropy of the beliefs in some candidates, on average over what it might turn
// out to be.
func expectedDrop(id FeatureID, cs []candidate) float64 {
	now := make([]float64, len(cs))
	for i := range cs {
		now[i] = cs[i].post
	}
	floats.Scale(1/floats.Sum(now), now)
	drop := entropy(now)
	for _, v := range values(id) {
		p, _ := likelihood(id, v, 0.1)
		then, chance := make([]float64, len(cs)), 0.0
		for i := range cs {
			chance += now[i] * p[cs[i].index]
			then[i] = now[i] * p[cs[i].index]
		}
		if chance > 0 {
			floats.Scale(1/chance, then)
			drop -= chance * entropy(then)
		}
	}
	return drop
}

// earned reports whether the first of the ranked candidates has earned a
// verdict: enough of the belief for a dump that tells so much, and well ahead of the second.
func (w *Weights) earned(f *Findings, ranked []candidate) bool {
	return len(ranked) > 0 && ranked[0].post >= w.bar(f) && (len(ranked) < 2 || ranked[0].post >= w.Lead*ranked[1].post)
}
