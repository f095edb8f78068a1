package rootcause

import (
	"fmt"
	"slices"
	"strings"
)

// Prior chooses what is believed before any evidence.
type Prior int

// The priors of docs/causes.md: the textbook's split over its five with a tenth
// for anything else, the shares of 41 confirmed public incidents on GPU robot
// stacks (with a third of a percent for causes that had none), and no opinion.
const (
	TextbookPrior Prior = iota
	FieldPrior
	UniformPrior
)

// priorNames are the names of the priors, by Prior.
var priorNames = []string{"textbook", "field", "uniform"}

// String returns the prior's name.
func (p Prior) String() string {
	if p < 0 || int(p) >= len(priorNames) {
		return fmt.Sprintf("prior %d", int(p))
	}
	return priorNames[p]
}

// Set reads a name, so that a prior can be a flag. The error lists the names.
func (p *Prior) Set(name string) error {
	i := slices.Index(priorNames, name)
	if i < 0 {
		return fmt.Errorf("prior %q is none of %s", name, strings.Join(priorNames, ", "))
	}
	*p = Prior(i)
	return nil
}

// Type returns "prior": what a flag of this type wants.
func (p *Prior) Type() string { return "prior" }
