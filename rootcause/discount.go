package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// ownLoss says that the loss of a temperature stays on one side of zero for a while. It
// is the temperature, or its logarithm, times what the entropy lacks, and so is its
// gradient; one step of float32 on a gradient that is not zero moves any number of
// that size. Only for a temperature that is itself recorded in low precision.
func (c *Case) ownLoss(of *field) (string, bool) {
	if !c.computesLow(of) || of.len() == 0 {
		return "", false
	}
	value := of.at(of.len()-1, 0, 0)
	log, plain := value, math.Exp(value)
	if !hasToken(of.Name, logTokens...) {
		log, plain = math.Log(value), value
	}
	size := math.Max(math.Abs(log), plain)
	for _, f := range c.fields {
		if f.kind != loss || !hasToken(f.Name, "alpha", "temperature", "temp", "coef") || f.to-f.from != 1 || !finite(size) {
			continue
		}
		if gap, ok := f.offTarget(0, entropyGap*size, stillFor/4); ok {
			return fmt.Sprintf("%s stays %s from zero on one side, which is an entropy off its target", f.Name, num(math.Abs(gap))), true
		}
	}
	return "", false
}

// discountNames are what a discount is called, as a fact and as a field.
var discountNames = []string{"gamma", "discount", "discount_factor"}

// roundedDiscount finds a discount that is recorded in low precision as exactly 1 in all
// records, while the run is configured with one below that rounds to it: the horizon of
// the returns is infinite then. A scale of a layer that is called gamma is none.
func (c *Case) roundedDiscount() (Feature, bool) {
	configured, name := c.discount()
	if !(configured > 0.5 && configured < 1) {
		return Feature{}, false
	}
	for _, f := range c.fields {
		bare := strings.TrimPrefix(strings.ToLower(f.Name), "param.")
		if !slices.Contains(discountNames, bare) && bare != strings.ToLower(name) || f.len() == 0 || f.PerEnv || f.to-f.from != 1 || !c.computesLow(f) {
			continue
		}
		low, all := f.DType, f.constant() && f.at(0, 0, 0) == 1
		if !all || 1-configured > lastPlace(configured, low)/2 {
			continue
		}
		out := found(yes, fmt.Sprintf("%s is exactly 1 in all of %d records, in %s, although %s is %g: it was rounded up, and returns are discounted no more", f.Name, f.len(), low, name, configured))
		out.Measured, out.Baseline = 1, configured
		return out.in(f, -1, 0, f.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// discount returns the discount that the run is configured with, and the fact's name; 0
// without one, or with several that differ.
func (c *Case) discount() (v float64, name string) {
	for key := range c.man.Facts {
		last := strings.ToLower(key[strings.LastIndex(key, ".")+1:])
		x, ok := c.fact(key)
		if !ok || !slices.Contains(discountNames, last) || about(key, "lr", "sched", "norm", "focal", "kernel") {
			continue
		}
		if name != "" && x != v {
			return 0, ""
		}
		if name == "" || key < name {
			v, name = x, key
		}
	}
	return v, name
}
