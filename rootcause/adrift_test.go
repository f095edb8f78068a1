package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHeldPlace is X21 for a position in a map's coordinates.
func TestHeldPlace(t *testing.T) {
	drive := func(from, speed float64, moves bool) *loopRun {
		r := newRun(80)
		q, v := r.fields["qpos"], r.fields["qvel"]
		for i := range q.v {
			for row := range q.v[i] {
				at := from
				if moves {
					at += 0.005 * speed * float64(i)
				}
				q.v[i][row][0], v.v[i][row][0] = at, speed
			}
		}
		for k := range r.man.Fields {
			if s := &r.man.Fields[k]; s.Name == "qpos" || s.Name == "qvel" {
				s.Cols = []string{"base.x", "hip", "knee"}
				r.fields[s.Name].spec.Cols = s.Cols
			}
		}
		return r
	}
	c, d := drive(4.6e6, 0.9, false).judge()
	assert.Equal(t, yes, c.feature(X21).Value, c.feature(X21).Text)
	assert.Equal(t, PrecisionLoss, d.Verdict)
	for name, r := range map[string]*loopRun{
		"near the origin":        drive(40, 0.9, true),
		"moves, rounded":         drive(4.6e6, 0.9, true),
		"parked":                 drive(4.6e6, 1e-4, false),
		"too short to tell":      drive(4.6e6, 0.2, false),
		"pinned near the origin": drive(40, 0.9, false),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X21).Text)
	}
	assert.Equal(t, 0.5, lastPlace(4.6e6, "float32"))
}
