package mjb

import (
	"errors"
	"fmt"
)

// ErrNotModel is returned, wrapped, for a file that is no MuJoCo model at all.
var ErrNotModel = errors.New("no MuJoCo model")

// LayoutError is returned for a binary model that cannot be laid out: it is of a
// MuJoCo version or build that is not known, or truncated, or damaged.
type LayoutError struct {
	File    string
	Version string // as the file names it; "" before MuJoCo 3.5
	Reason  string

	// Partial holds NQ, NV, NU and NA where the header gives believable ones, so
	// that columns can still be numbered; nil otherwise.
	Partial *Model
}

// Error says which version and what does not fit.
func (e *LayoutError) Error() string {
	v := "before 3.5"
	if e.Version != "" {
		v = e.Version
	}
	return fmt.Sprintf("model %q: MuJoCo %s: %s", e.File, v, e.Reason)
}

// NotSimpleError is returned for an MJCF file whose joints cannot be told
// without MuJoCo's compiler.
type NotSimpleError struct {
	Element string // such as "include"
	Reason  string
}

// Error names the element.
func (e *NotSimpleError) Error() string {
	return fmt.Sprintf("not simple enough: <%s> %s", e.Element, e.Reason)
}
