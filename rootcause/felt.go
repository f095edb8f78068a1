package rootcause

import (
	"fmt"

	"github.com/nanguard/nanguard/dump"
)

// felt makes more of a change of the model in all envs when about all of them
// went non-finite together right after it, and nothing says that a graph is in
// use that could have read an array that moved: then they cannot bear the values.
func (c *Case) felt(f Feature) Feature {
	r := c.root()
	if r == nil || r.f == nil || !r.f.kind.isBody() || !nonFinite(r.class) || r.row < 0 || c.graphs() || !c.everywhere(c.countBad(r)) {
		return f
	}
	f.Value = "felt"
	f.Text += fmt.Sprintf("; so did %d of %d envs at once, and no graph is declared that could read a stale array", c.countBad(r), c.man.NumEnvs)
	return f
}

// graphs reports whether the run says anything of CUDA graphs or of arrays that
// moved.
func (c *Case) graphs() bool {
	for _, e := range c.man.Events {
		if e.Kind == dump.EventGraphCapture || e.Kind == dump.EventBufferMoved {
			return true
		}
	}
	for name := range c.man.Facts {
		if about(name, []string{"graph", "address."}) {
			return true
		}
	}
	return false
}
