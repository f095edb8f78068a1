package rootcause

import (
	"cmp"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// Card is what there is to know about a cause, whatever the dump.
type Card struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	What     string     `json:"what"`     // what happens, in a few sentences
	Symptoms []string   `json:"symptoms"` // what a person sees first
	Ranked   string     `json:"ranked"`   // when it is in the running
	Looks    []Look     `json:"looks"`    // the facts that speak for it, the strongest first
	Fix      string     `json:"fix"`
	Cases    []Incident `json:"cases"`
}

// Look is a fact that a diagnosis looks for, with how many times likelier it is
// under the cause than under the causes on average.
type Look struct {
	Feature FeatureID `json:"feature"` // F1..F15, X1..
	Value   string    `json:"value"`
	Name    string    `json:"name"`
	Means   string    `json:"means"`
	Times   float64   `json:"times"`
}

// Incident is a public report of a cause.
type Incident struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Causes returns the ids of the catalogue: the five that are always ranked
// first, "unknown" last.
func Causes() []string {
	ids := make([]string, 0, len(catalogue))
	for i := range catalogue {
		ids = append(ids, catalogue[i].id)
	}
	return ids
}

// Explain returns the card of a cause. ok is false when no cause has the id.
func Explain(id string) (card Card, ok bool) {
	i := slices.IndexFunc(catalogue, func(k cause) bool { return k.id == id })
	if i < 0 {
		return Card{}, false
	}
	card = cards[id]
	card.ID, card.Title = id, catalogue[i].title
	card.Fix = catalogue[i].fix(&Case{man: &dump.Manifest{}})
	card.Looks = looks(i)
	if card.Symptoms == nil {
		card.Symptoms = []string{}
	}
	if card.Cases == nil {
		card.Cases = []Incident{}
	}
	return card, true
}

// telling is how many times likelier than on average a fact must be to stand on
// a card.
const telling = 1.5

// looks returns the facts that speak for a cause of the catalogue.
func looks(at int) []Look {
	out := []Look{}
	for _, r := range rules {
		for _, v := range values(r.id) {
			p, _ := likelihood(r.id, v, 0.1)
			mean := 0.0
			for _, x := range p {
				mean += x / float64(len(p))
			}
			if t := p[at] / mean; v != no && t >= telling {
				out = append(out, Look{Feature: r.id, Value: v, Name: r.name, Means: r.means, Times: math.Round(t*10) / 10})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Look) int { return cmp.Compare(b.Times, a.Times) })
	return out
}
