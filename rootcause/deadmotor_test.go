package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestDeadMotors is X25 for envs that a randomisation left without a motor.
func TestDeadMotors(t *testing.T) {
	run := func(gain, speed func(row int) float64) *loopRun {
		r := newRun(60).addEnvs("model.actuator_gainprm", dump.StageModel, "float32", func(_, row int) float64 { return gain(row) })
		for _, frame := range r.fields["qvel"].v {
			for row := range frame {
				for col := range frame[row] {
					frame[row][col] *= speed(row)
				}
			}
		}
		return r
	}
	of := func(one, others float64) func(int) float64 {
		return func(row int) float64 {
			if row == 2 {
				return one
			}
			return others
		}
	}
	c, d := run(of(0, 1.2), of(0, 1)).judge()
	assert.Equal(t, flipped, c.feature(X25).Value, c.feature(X25).Text)
	assert.Contains(t, c.feature(X25).Text, "is 0 in env 11,")
	assert.Equal(t, BadModel, d.Verdict)
	for name, r := range map[string]*loopRun{
		"it falls":         run(of(0, 1.2), of(0.1, 1)),
		"weak":             run(of(0.01, 1.2), of(0, 1)),
		"none has any":     run(of(0, 0), of(0, 1)),
		"all rest":         run(of(0, 1.2), of(0, 0)),
		"nobody drives it": run(of(0, 1.2), of(0, 1)).hold("action", 0, own),
	} {
		c, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}
