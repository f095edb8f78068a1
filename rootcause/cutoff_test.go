package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/mjb"
)

// TestClippedMotion is X25 for an accelerometer that is at its cutoff nearly always, and for
// sensors that may well be there.
func TestClippedMotion(t *testing.T) {
	run := func(kind mjb.SensorType, cutoff, shift float64, seen bool) *loopRun {
		r := newRun(60)
		r.model = crates()
		r.model.Sensors = []mjb.Sensor{{Type: kind, Dim: 2, Cutoff: cutoff}}
		s, o := r.fields["sensordata"], r.fields["obs.policy"]
		for i := range s.v {
			for row := range s.v[i] {
				for col, v := range s.v[i][row] {
					if v += shift; cutoff > 0 {
						v = math.Max(-cutoff, math.Min(cutoff, v))
					}
					s.v[i][row][col] = v
				}
				if seen {
					o.v[i/decimation][row][0] = s.v[i][row][0]
				}
			}
		}
		return r
	}
	c, d := run(mjb.Accelerometer, 0.6, 0, true).judge()
	assert.Equal(t, spikes, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, BadSensor, d.Verdict)
	for name, r := range map[string]*loopRun{
		"at times":           run(mjb.Accelerometer, 40, 0, true),
		"never cut off":      run(mjb.Accelerometer, 0, 0, true),
		"on one side":        run(mjb.Accelerometer, 0.6, 60, true),
		"a rangefinder":      run(7, 0.6, 0, true),
		"that nobody reads":  run(mjb.Accelerometer, 0.6, 0, false),
		"the engine's force": run(15, 0.6, 0, true),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}
