package rootcause

import (
	"encoding/json"
	"math"
	"strconv"
)

// fact returns a number that the run declared.
func (c *Case) fact(name string) (float64, bool) {
	v, ok := c.man.Facts[name]
	if !ok {
		return 0, false
	}
	return number(v)
}

// number reads a value of a JSON document or of a metadata dict as a float64.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	case bool:
		if n {
			return 1, true
		}
		return 0, true
	case string:
		f, err := strconv.ParseFloat(n, 64)
		return f, err == nil
	}
	return 0, false
}

// text returns a fact that is a string, "" when there is none.
func (c *Case) text(name string) string {
	s, _ := c.man.Facts[name].(string)
	return s
}

// timestep returns the physics step in seconds, 0 when it is not known.
func (c *Case) timestep() float64 {
	if v, ok := c.fact("sim.timestep"); ok && v > 0 {
		return v
	}
	if c.model != nil {
		return c.model.Opt.Timestep
	}
	return 0
}

// iterations returns the solver's limit of iterations, 0 when it is not known.
func (c *Case) iterations() int {
	if v, ok := c.fact("sim.iterations"); ok && v > 0 {
		return int(v)
	}
	if c.model != nil {
		return c.model.Opt.Iterations
	}
	return 0
}

// epsilon returns the normalizer's eps, NaN when it is not known.
func (c *Case) epsilon() float64 {
	if v, ok := c.fact("normalizer.eps"); ok {
		return v
	}
	return math.NaN()
}
