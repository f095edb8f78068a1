package rootcause

import (
	"fmt"

	"github.com/nanguard/nanguard/dump"
)

// unfilled finds a value that exists only for rows whose episode is over, and is
// not finite in exactly the other rows of the run: nobody filled these in.
func (c *Case) unfilled(o *onset) (Feature, bool) {
	if o == nil || o.f == nil || !o.f.PerEnv || o.f.len() == 0 || o.f.kind.isBody() || !about(o.f.Name, fillerWords...) {
		return Feature{}, false
	}
	i := o.f.upTo(o.tick)
	if i < 0 || o.f.frames.Ticks[i] != o.tick {
		return Feature{}, false
	}
	for _, d := range c.fields {
		if d.kind != done || !d.PerEnv || d.len() == 0 || !c.complements(o, i, d) {
			continue
		}
		f := found(yes, fmt.Sprintf("%s is %s in %d of %d rows, exactly those whose episode is not over (%s): it is filled in for the others only", o.f.Name, words[o.class], o.envs, c.man.NumEnvs, d.Name))
		f.Measured, f.Baseline = float64(o.envs), float64(c.man.NumEnvs)
		return f.onset(o), true
	}
	return Feature{}, false
}

// complements reports whether the bad rows of frame i are those in which an
// end-of-episode flag is not set, and some episode of the run did end.
func (c *Case) complements(o *onset, i int, d *field) bool {
	j := d.upTo(o.tick)
	if j < 0 {
		return false
	}
	over := 0
	for row := range o.f.rows {
		other := d.row(o.f.env(row))
		if other < 0 {
			return false
		}
		ended := d.cell(j, other).max > 0
		if ended == (o.f.cell(i, row).bad > 0) {
			return false
		}
		if ended {
			over++
		}
	}
	return over > 0 || o.envs < c.man.NumEnvs && c.ended(d, j) == c.man.NumEnvs-o.envs
}

// ended returns how many envs of the run were reset between the flag's frames
// before j and j, by the events.
func (c *Case) ended(d *field, j int) int {
	n, since := 0, int64(-1)
	for _, f := range c.fields {
		if k := f.upTo(d.frames.Ticks[j] - 1); f.Clock == d.Clock && k >= 0 {
			since = max(since, f.frames.Ticks[k])
		}
	}
	for _, e := range c.man.Events {
		if e.Kind == dump.EventReset && e.Tick > since && e.Tick <= d.frames.Ticks[j] {
			n += max(e.Count, len(e.Envs))
		}
	}
	return n
}
