package rootcause

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// maxNext is how many actions a tired engineer reads.
const maxNext = 4

// proposal is something to do, with what it is worth: the belief in its cause
// against what acting on it costs.
type proposal struct {
	Action
	worth float64
}

// next returns what to do, the best first: the rows of the table that are
// implicated, the fix of each believed cause that has none, and the one thing to
// record or run that would tell most. What is unknown is no reason to act.
func (c *Case) next(cs []candidate, rows []Check, earned bool) []Action {
	all := fixes(c, cs, rows)
	if a, ok := c.ask(cs, earned); ok {
		all = append(all, proposal{a, (1 - best(cs)) / 2}) // another run costs more than a changed line
	}
	slices.SortStableFunc(all, func(a, b proposal) int { return cmp.Compare(b.worth, a.worth) })
	out := make([]Action, 0, maxNext)
	for _, r := range all {
		known := slices.ContainsFunc(out, func(a Action) bool { return a.Text == r.Text })
		if !known && len(out) < maxNext {
			out = append(out, r.Action)
		}
	}
	return out
}

// fixes returns what to change for each cause that is believed in.
func fixes(c *Case, cs []candidate, rows []Check) []proposal {
	var all []proposal
	for _, k := range cs {
		if k.post < noRival {
			continue
		}
		hit := implicated(rows, k.id)
		for _, r := range hit {
			all = append(all, proposal{Action{Text: r.Fix, Row: r.Row}, k.post / float64(len(hit)) / checks[r.Row-1].cost})
		}
		if len(hit) == 0 {
			all = append(all, proposal{Action{Text: k.fix(c)}, k.post})
		}
	}
	return all
}

// implicated returns the rows of the checklist that are implicated for a cause.
func implicated(rows []Check, cause string) []Check {
	var hit []Check
	for _, r := range rows {
		if r.Cause == cause && r.Status == Implicated {
			hit = append(hit, r)
		}
	}
	return hit
}

// best returns the largest posterior.
func best(cs []candidate) float64 {
	m := 0.0
	for i := range cs {
		m = max(m, cs[i].post)
	}
	return m
}

// worthAsking is how many nats a feature must be expected to give to be missed.
const worthAsking = 0.3

// unasked returns what was not recorded and would have spoken for or against a
// cause, the most telling first.
func (c *Case) unasked(cause int) []string {
	type gap struct {
		text  string
		worth float64
	}
	var gaps []gap
	for i := range c.features {
		f := &c.features[i]
		if f.known() || f.Recorded {
			continue
		}
		if w := tells(f.ID, cause); w >= worthAsking {
			gaps = append(gaps, gap{strings.TrimPrefix(f.Text, "not recorded: "), w})
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.worth, a.worth) })
	out := make([]string, 0, len(gaps))
	for _, g := range gaps {
		if !slices.Contains(out, g.text) {
			out = append(out, g.text)
		}
	}
	return out
}

// tells returns how many nats a feature is expected to speak for a cause, against
// the average of all, if the cause is the right one.
func tells(feature FeatureID, cause int) float64 {
	nats := 0.0
	for _, v := range values(feature) {
		p, _ := likelihood(feature, v, 0.1)
		mean := floats.Sum(p) / float64(len(p))
		nats += p[cause] * math.Log(p[cause]/mean)
	}
	return nats
}

// noRival is a share of the belief that is not worth a run to tell it apart.
const noRival = 0.05

// ask returns the unknown feature whose answer would tell the two likeliest
// causes apart best.
func (c *Case) ask(cs []candidate, earned bool) (Action, bool) {
	ranked := sorted(cs)
	if u, open := between(c.undecided(), ranked); open {
		return Action{Text: u.say(ranked)}, true
	}
	top := ranked[:2]
	pick := c.mostTelling(top)
	if pick == nil {
		return Action{}, false
	}
	if earned && top[1].post < noRival {
		return Action{}, false
	}
	if earned {
		return Action{Text: fmt.Sprintf("To tell %s from %s, %s.", top[0].id, top[1].id, pick.ask)}, true
	}
	return Action{Text: fmt.Sprintf("The dump cannot tell %s (%.0f %%) from %s (%.0f %%). To tell them apart, %s.",
		top[0].id, 100*top[0].post, top[1].id, 100*top[1].post, pick.ask)}, true
}

// mostTelling returns the unknown feature that would lower the entropy of the
// belief in two causes most, nil when none would by much.
func (c *Case) mostTelling(top []candidate) *rule {
	var pick *rule
	most := 0.01
	for i := range rules {
		if f := c.feature(rules[i].id); f.known() || f.Recorded {
			continue
		}
		if drop := expectedDrop(rules[i].id, top); drop > most {
			pick, most = &rules[i], drop
		}
	}
	return pick
}
