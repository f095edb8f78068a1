package rootcause

import "fmt"

// deadMotors finds envs in which a recorded randomisation made every actuator's gain zero, as
// a range that holds zero does: they do not move at all, however their actions change, and all
// envs with a gain do. A motor that fails on purpose leaves others, or what it no longer holds
// falls.
func (c *Case) deadMotors() (Feature, bool) {
	v, a := c.first(qvel), c.first(action)
	if v.len() <= stuckFor || !v.PerEnv || a.len() <= stuckFor || !a.PerEnv {
		return Feature{}, false
	}
	for _, f := range c.fields {
		if f.kind != modelArray || !f.PerEnv || f.len() == 0 || !about(f.Name, "gainprm", "actuator_gear") {
			continue
		}
		dead, live := -1, 0
		var envs []int
		for row := range f.rows {
			env := f.env(row)
			vrow, arow := v.row(env), a.row(env)
			switch {
			case vrow < 0 || arow < 0:
				return Feature{}, false
			case f.largestOf(row) > 0:
				if !v.lively(vrow) {
					return Feature{}, false
				}
				live++
			case v.largestOf(vrow) > 0 || !a.lively(arow):
				return Feature{}, false
			default:
				dead, envs = row, append(envs, env)
			}
		}
		if dead < 0 || live < fewPeers {
			continue
		}
		out := found(flipped, fmt.Sprintf("all of %s is 0 in env %s, which never moves by a bit although its actions change in each step; the %d envs with a gain do: what draws it may draw zero", f.Name, ids(envs, 4), live))
		out.Measured, out.Baseline = float64(len(envs)), float64(live)
		return out.in(f, envs[0], 0, f.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// largestOf returns the largest size of a row in all frames.
func (f *field) largestOf(row int) float64 {
	most := 0.0
	for i := range f.len() {
		most = max(most, f.cell(i, row).max)
	}
	return most
}
