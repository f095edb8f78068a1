package rootcause

import "sync"

// b marks a likelihood that is the feature's own base rate.
const b = -1

// outcome is a feature with one of its values.
type outcome struct {
	feature FeatureID
	value   string
}

// row holds the likelihoods of one outcome under the causes that have a column.
type row struct {
	feature FeatureID
	value   string
	p       likes
}

// likes has one likelihood for each cause with a column of its own. None may be
// left out: zero is no probability here.
type likes struct {
	contact, reward, normalizer, std, graph                        float64
	capacity, model, sensor, reset, action, learner, math, unknown float64
}

// of returns the column of a cause; ok is false for a cause without one.
func (l *likes) of(cause string) (p float64, ok bool) {
	switch cause {
	case ContactDivergence:
		return l.contact, true
	case RewardOverflow:
		return l.reward, true
	case NormalizerCold:
		return l.normalizer, true
	case PolicyStd:
		return l.std, true
	case StaleGraph:
		return l.graph, true
	case ContactCapacity:
		return l.capacity, true
	case BadModel:
		return l.model, true
	case BadSensor:
		return l.sensor, true
	case BadReset:
		return l.reset, true
	case ActionExplosion:
		return l.action, true
	case LearnerExplosion:
		return l.learner, true
	case MathDomain:
		return l.math, true
	case UnknownCause:
		return l.unknown, true
	}
	return 0, false
}

// hasColumn reports whether a cause has a column of its own.
func hasColumn(cause string) bool {
	_, ok := new(likes).of(cause)
	return ok
}

// of returns the likelihood of the row's outcome under a cause.
func (r *row) of(k *cause) float64 {
	if v, ok := rare[k.id][outcome{r.feature, r.value}]; ok {
		return v
	}
	if v, ok := r.p.of(k.id); ok {
		return v
	}
	v, _ := r.p.of(k.like)
	return v
}

// table holds the likelihoods of every outcome in the order of the catalogue,
// and per feature its values in the order of the rows, "no" included.
type table struct {
	p      map[outcome][]float64
	values map[FeatureID][]string
}

// tabulate makes the table once.
var tabulate = sync.OnceValue(func() table {
	t := table{map[outcome][]float64{}, map[FeatureID][]string{}}
	for i := range likelihoods {
		r := &likelihoods[i]
		p := make([]float64, len(catalogue))
		for j := range catalogue {
			p[j] = r.of(&catalogue[j])
		}
		t.p[outcome{r.feature, r.value}] = p
		t.values[r.feature] = append(t.values[r.feature], r.value)
	}
	for id, v := range t.values {
		if len(v) == 1 && v[0] == yes {
			t.values[id] = append(v, no)
		}
	}
	return t
})

// likelihood returns P(value | cause) of a feature for every cause of the
// catalogue, and whether the table has the value. A "no" without a row of its
// own is what "yes" leaves; base stands in for b.
func likelihood(feature FeatureID, value string, base float64) (p []float64, ok bool) {
	t := tabulate()
	from, ok := t.p[outcome{feature, value}]
	negate := !ok && value == no
	if negate {
		from, ok = t.p[outcome{feature, yes}]
	}
	if !ok {
		return nil, false
	}
	p = make([]float64, len(from))
	for j, v := range from {
		if v == b {
			v = base
		}
		if negate {
			v = 1 - v
		}
		p[j] = v
	}
	return p, true
}

// values returns the values that the table has for a feature, "no" included.
func values(feature FeatureID) []string { return tabulate().values[feature] }
