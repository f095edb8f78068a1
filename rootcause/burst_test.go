package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// bursts is a run of which all envs are reset twice: in the first record after each, the
// speeds are at, of which the step gave a share, with contacts or without, and later peak.
func bursts(at, given, contacts, peak float64, always bool) *loopRun {
	r := newRun(60)
	v, a, n := r.fields["qvel"], r.fields["qacc"], r.fields["nefc"]
	ncon := &loopField{spec: n.spec, ticks: n.ticks, counts: n.counts}
	ncon.spec.Name, ncon.spec.Order = "ncon", 11
	for range n.v {
		frame := make([][]float64, len(r.man.EnvIDs))
		for row := range frame {
			frame[row] = []float64{0}
		}
		ncon.v = append(ncon.v, frame)
	}
	r.fields["ncon"] = ncon
	r.man.Fields = append(r.man.Fields, ncon.spec)
	for _, step := range []int{0, 25, 45} {
		if step == 0 && !always {
			continue
		}
		if step > 0 {
			r.resetAt(step - 1)
		}
		i := step * decimation
		for row := range r.man.EnvIDs {
			speed := at + float64(row)
			v.v[i][row][0], a.v[i][row][0], ncon.v[i][row][0] = speed, given*speed/0.005, contacts
			for k := 1; k < 30; k++ {
				v.v[i+k][row][0] = peak
			}
		}
	}
	return r
}

// TestBurstsAtResets is X29 for resets into something solid whose speeds stay finite, and for
// resets that look like it.
func TestBurstsAtResets(t *testing.T) {
	c, d := bursts(80, 0.9, 40, 240, false).judge()
	assert.Equal(t, yes, c.feature(X29).Value, c.feature(X29).Text)
	assert.Equal(t, BadReset, d.Verdict)
	for name, r := range map[string]*loopRun{
		"speeds that are drawn":      bursts(80, 0.1, 40, 240, false),
		"in the air":                 bursts(80, 0.9, 0, 240, false),
		"feet a little in the floor": bursts(20, 0.9, 4, 20, false),
		"it calms down":              bursts(80, 0.9, 40, 80, false),
		"as it begins":               bursts(80, 0.9, 40, 240, true),
	} {
		c, d := r.judge()
		assert.NotEqual(t, yes, c.feature(X29).Value, name)
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X29).Text)
	}
}
