package rootcause

import (
	"fmt"

	"github.com/nanguard/nanguard/dump"
)

// quietDoubts returns what looks odd in a run in which nothing is wrong, and may
// be meant: a rate or a gradient of zero, a network that stands still, envs that stay done.
func (c *Case) quietDoubts() []string {
	var d []string
	for _, look := range []func(*Case) string{(*Case).rateIsZero, (*Case).gradientIsZero, (*Case).networkRests, (*Case).staysDone} {
		if said := look(c); said != "" {
			d = append(d, said)
		}
	}
	return d
}

// rateIsZero says that the learning rate is zero in all records although gradients
// flow, "" when it is not.
func (c *Case) rateIsZero() string {
	rate, g := c.first(lr), c.first(grad)
	if rate.len() < deafFor || g == nil {
		return ""
	}
	if _, v := g.history(); len(v) < deafFor || !(smallest(v) > 0) {
		return ""
	}
	for i := range rate.len() {
		if cell := rate.cell(i, 0); cell.max != 0 || cell.bad > 0 {
			return ""
		}
	}
	return fmt.Sprintf("%s is 0 in all %d records although %s is not: nothing is learned", rate.Name, rate.len(), g.Name)
}

// gradientIsZero says that the gradient is exactly zero in all records although a
// loss changes, "" when it is not.
func (c *Case) gradientIsZero() string {
	g := c.gradientGone()
	if g == nil {
		return ""
	}
	return fmt.Sprintf("%s is exactly 0 in all %d records although the loss changes: nothing is learned", g.Name, g.len())
}

// networkRests names the parameters that do not move by a bit while others do and
// gradients flow, "" without such.
func (c *Case) networkRests() string {
	if !c.learns() {
		return ""
	}
	var rests *field
	moves := false
	for _, f := range c.fields {
		if f.kind != param || f.Stage != dump.StageParam || f.len() < deafFor || f.to-f.from < 2 || about(f.Name, "target", "skip", "count") {
			continue
		}
		if !f.constant() {
			moves = true
		} else if rests == nil && f.stillColumn(0) {
			rests = f
		}
	}
	if rests == nil || !moves {
		return ""
	}
	return fmt.Sprintf("%s does not move by a bit in %d minibatches while other parameters do: frozen on purpose, or not in the optimizer", rests.Name, rests.len())
}

// latchedFor is how many records in a row an env must be done.
const latchedFor = 20

// staysDone names an env that is done in many records in a row while its episode
// goes on, "" when there is none.
func (c *Case) staysDone() string {
	f, age := c.byName["done"], c.byName["episode_step"]
	if f.len() < latchedFor || !f.PerEnv || age.len() != f.len() || age.rows != f.rows {
		return ""
	}
	for row := range f.rows {
		n := 0
		for i := 1; i < f.len(); i++ {
			if f.cell(i, row).max > 0 && age.cell(i, row).max > age.cell(i-1, row).max {
				n++
			} else {
				n = 0
			}
			if n >= latchedFor {
				return fmt.Sprintf("env %d is done in %d records in a row and %s goes on: nothing resets it", f.env(row), n, age.Name)
			}
		}
	}
	return ""
}
