package rootcause

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
)

// Weights are what was fitted on labelled dumps: few numbers beside a table that
// was set by hand. weights.json holds them, and says how it was made.
type Weights struct {
	Made    string                `json:"made"`
	Samples int                   `json:"samples"`
	Trust   map[FeatureID]float64 `json:"trust"` // factor of what a feature says; 1 where it is left out
	Prior   map[string]float64    `json:"prior"` // nats for a cause before any evidence; 0 where it is left out
	Bands   []Band                `json:"bands"` // the first that a dump fits into counts
	Belief  float64               `json:"belief"`
	Lead    float64               `json:"lead"` // a verdict needs Belief, and Lead times the second
}

// Band holds the temperature of the beliefs for dumps that tell about as much:
// above one they are drawn together, below one apart.
type Band struct {
	Name        string  `json:"name"`
	Censored    bool    `json:"censored"` // it may have begun in what is not recorded
	Coverage    float64 `json:"coverage"` // at least
	Temperature float64 `json:"temperature"`
	Unforeseen  float64 `json:"unforeseen"` // share of the belief that goes to "unknown" whatever the facts say
	Belief      float64 `json:"belief"`     // a verdict needs so much in this band, and no less than elsewhere
}

//go:embed weights.json
var weightsFile []byte

// fitted are the weights of weights.json.
var fitted = mustReadWeights(weightsFile)

// HandSet returns the weights that change nothing: the table as it stands.
func HandSet() *Weights { return &Weights{Belief: 0.6, Lead: 2.5} }

// FittedWeights returns a copy of the weights in use.
func FittedWeights() *Weights {
	return mustReadWeights(weightsFile)
}

func mustReadWeights(data []byte) *Weights {
	w, err := ReadWeights(data)
	if err != nil {
		panic(err)
	}
	return w
}

// ReadWeights reads and checks weights.
func ReadWeights(data []byte) (*Weights, error) {
	var w Weights
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	for id, v := range w.Trust {
		if len(values(id)) == 0 || !(v > 0) {
			return nil, fmt.Errorf("weights: trust %s: %g", id, v)
		}
	}
	for id := range w.Prior {
		if indexOf(id) < 0 {
			return nil, fmt.Errorf("weights: no cause %q", id)
		}
	}
	for _, b := range w.Bands {
		if !(b.Temperature > 0) {
			return nil, fmt.Errorf("weights: band %q has temperature %g", b.Name, b.Temperature)
		}
		if !(b.Unforeseen >= 0 && b.Unforeseen < 1) {
			return nil, fmt.Errorf("weights: band %q keeps %g for what was not foreseen", b.Name, b.Unforeseen)
		}
	}
	if !(w.Belief > 0 && w.Belief < 1 && w.Lead >= 1) {
		return nil, fmt.Errorf("weights: a verdict at a belief of %g and a lead of %g", w.Belief, w.Lead)
	}
	return &w, nil
}

// trust returns the factor of a feature.
func (w *Weights) trust(id FeatureID) float64 {
	if v, ok := w.Trust[id]; ok {
		return v
	}
	return 1
}

// Band returns the index of the band that findings fit into, -1 for none.
func (w *Weights) Band(f *Findings) int {
	return slices.IndexFunc(w.Bands, func(b Band) bool { return b.Censored == f.censored && f.coverage >= b.Coverage })
}

// bar returns the belief that a verdict needs for a dump.
func (w *Weights) bar(f *Findings) float64 {
	if i := w.Band(f); i >= 0 {
		return max(w.Belief, w.Bands[i].Belief)
	}
	return w.Belief
}

// temperature returns that of the band of a dump, 1 where it fits into none.
func (w *Weights) temperature(f *Findings) float64 {
	if i := w.Band(f); i >= 0 {
		return w.Bands[i].Temperature
	}
	return 1
}

// unforeseen returns the share of the belief that a dump's band keeps for what no
// fact sees.
func (w *Weights) unforeseen(f *Findings) float64 {
	if i := w.Band(f); i >= 0 {
		return w.Bands[i].Unforeseen
	}
	return 0
}
