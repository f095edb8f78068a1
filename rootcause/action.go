package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// extremeAction is F5: an action far outside what the policy gives elsewhere,
// in the step before it began.
func (c *Case) extremeAction() Feature {
	f := c.first(action, ctrl)
	env, ok := c.focus()
	if f.len() == 0 || !ok {
		return unmeasured("action or ctrl of the env to blame")
	}
	row, i := f.row(env), f.upTo(c.beginning())
	if r := c.root(); r != nil && r.f != nil && r.f.kind != action && r.f.kind != mean {
		i = f.upTo(c.beginning() - 1)
	}
	if row < 0 || i < 0 || f.cell(i, row).bad > 0 {
		return unmeasured("no finite action of the env before it began")
	}
	p := f.population(i, row)
	if p == 0 {
		return unmeasured("no other action to compare with")
	}
	cell := f.cell(i, row)
	out := found(no, fmt.Sprintf("%s%s was at most %s in the step before it began, as usual (99.9 %% of all: below %s)", f.Name, inEnv(env), num(cell.max), num(p)))
	if cell.max > 3*p {
		out = found(yes, fmt.Sprintf("%s%s was %s before it began, %s the 99.9th percentile of all others", f.label(int(cell.arg)), inEnv(env), num(cell.max), times(cell.max/p)))
	}
	out.Measured, out.Baseline = cell.max, p
	return out.in(f, env, int(cell.arg), f.frames.Ticks[i])
}

// population returns the 99.9th percentile of a field's sizes, without those of
// one row from ten frames before frame i on.
func (f *field) population(i, row int) float64 {
	var v []float64
	for j := range min(i+1, f.len()) {
		for r := range f.rows {
			if c := f.cell(j, r); (r != row || j < i-10) && c.bad == 0 {
				v = append(v, c.max)
			}
		}
	}
	if len(v) < 3 {
		return 0
	}
	slices.Sort(v)
	return stat.Quantile(0.999, stat.Empirical, v, nil)
}

// actionLeads is X7: targets that no joint can reach came before the speeds
// rose, from a policy whose inputs were fine.
func (c *Case) actionLeads() Feature {
	r := c.root()
	if r == nil || r.f == nil {
		return unmeasured("nothing ran away")
	}
	if r.f.kind == action || r.f.kind == ctrl {
		return found(yes, fmt.Sprintf("%s%s left the usual range first, at tick %d", r.name, inEnv(r.env), r.tick)).in(r.f, r.env, r.col, r.tick)
	}
	f := c.first(ctrl)
	if !r.f.kind.isBody() || f.len() == 0 {
		return unmeasured("ctrl before the physics ran away")
	}
	row, i := f.row(r.env), f.upTo(r.tick)
	if row < 0 || i < 0 || f.cell(i, row).bad > 0 {
		return unmeasured("ctrl before the physics ran away")
	}
	d, usual, col := c.reach(f, i, row)
	if usual < math.Pi && d > 2*math.Pi && d > 5*usual || c.servoTargets() && d > 2*math.Pi {
		out := found(yes, fmt.Sprintf("the target of %s%s was %s rad away from the joint when it set out, a full turn or more", f.label(col), inEnv(r.env), num(d)))
		out.Measured, out.Baseline = d, usual
		return out.in(f, r.env, col, r.tick)
	}
	return found(no, fmt.Sprintf("ctrl%s was in its usual range (up to %s) when the physics ran away", inEnv(r.env), num(f.cell(i, row).max)))
}

// servoTargets reports whether the model's actuators are position servos, so
// that a control is the target of a joint.
func (c *Case) servoTargets() bool {
	s := c.servos()
	return len(s) > 0 && !slices.ContainsFunc(s, func(s servo) bool { return s.kp <= 0 })
}

// reach returns the largest distance between a position target and the joint of
// the same name, the usual such distance and the column. The joint is taken
// where the env set out, for one that has run away is far from any target.
// All are zero when the names do not match.
func (c *Case) reach(f *field, i, row int) (worst, usual float64, at int) {
	q := c.first(qpos)
	env := f.env(row)
	g, ok := c.growthOf(c.velocity(), env, c.deadline())
	if q.len() == 0 || q.row(env) < 0 || !ok {
		return 0, 0, 0
	}
	j := q.upTo(g.f.frames.Ticks[g.from])
	var all []float64
	for col := range f.to - f.from {
		k := q.named(f.column(col))
		if k < 0 || j < 0 {
			continue
		}
		if d := math.Abs(f.at(i, row, col) - q.at(j, q.row(env), k)); finite(d) && d > worst {
			worst, at = d, col
		}
		for r := range f.rows {
			if qr := q.row(f.env(r)); r != row && qr >= 0 {
				all = append(all, math.Abs(f.at(i, r, col)-q.at(j, qr, k)))
			}
		}
	}
	return worst, quiet(all, true), at
}

// named returns the column whose label ends with a name, -1 when there is none.
func (f *field) named(name string) int {
	return slices.IndexFunc(f.names, func(s string) bool {
		return s == name || strings.HasSuffix(s, " "+name)
	})
}
