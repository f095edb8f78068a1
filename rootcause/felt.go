package rootcause

import "fmt"

// felt makes more of a change of the model in all envs when about all of them
// went non-finite together right after it, and nothing says that a graph is in
// use that could have read an array that moved: then they cannot bear the values.
func (c *Case) felt(f Feature) Feature {
	r := c.root()
	if !r.is(body...) || !nonFinite(r.class) || r.row < 0 || c.graphDeclared() || !c.everywhere(c.countBad(r)) {
		return f
	}
	f.Value = "felt"
	f.Text += fmt.Sprintf("; so did %d of %d envs at once, and no graph is declared that could read a stale array", c.countBad(r), c.man.NumEnvs)
	return f
}
