package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestAllFeltTheChange is X1 where all envs go bad at once after a change of the
// model: with no graph in sight the values did it, with one a stale array may.
func TestAllFeltTheChange(t *testing.T) {
	all := func(rows int) *loopRun {
		r := newRun(30)
		r.man.NumEnvs = 16
		ticks := r.fields["qacc"].ticks
		for row := range rows {
			r.set("qacc", -2, row, -1, nan, nan).set("qvel", -2, row, -1, nan, nan)
		}
		r.tell()
		for i := range r.man.FirstBad {
			r.man.FirstBad[i].EnvsBad = rows * 16 / 5
		}
		return r.event(dump.Event{Tick: ticks[len(ticks)-5], Kind: dump.EventDR, Name: "dof_armature", Count: 16})
	}
	c, d := all(5).judge()
	assert.Equal(t, "felt", c.feature(X1).Value, c.feature(X1).Text)
	assert.Equal(t, BadModel, d.Causes[0].ID)
	c, _ = all(1).judge()
	assert.Equal(t, "recent", c.feature(X1).Value, "one env of many")
	c, _ = all(5).event(dump.Event{Tick: 1, Kind: dump.EventGraphCapture, Name: "step"}).judge()
	assert.Equal(t, "recent", c.feature(X1).Value, "a graph is in use")
}
