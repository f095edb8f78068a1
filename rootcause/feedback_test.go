package rootcause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFeedback is X30: a speed that gains more in each step, always in one direction.
func TestFeedback(t *testing.T) {
	run := func(gain func(i int, v float64) float64) *Case {
		r := newRun(60)
		v := 0.5
		for i := range 40 {
			v = gain(i, v)
			r.set("qvel", 150+i, 0, 1, v).set("qacc", 150+i, 0, 1, v/0.005)
		}
		c, _ := r.set("qacc", 190, 0, -1, nan).set("qvel", 190, 0, -1, nan).judge()
		return c
	}
	c := run(func(_ int, v float64) float64 { return 1.3 * v })
	assert.Equal(t, yes, c.feature(X30).Value, c.feature(X30).Text)
	c, d := newRun(60).judge()
	assert.Equal(t, unknown, c.feature(X30).Value)
	assert.Equal(t, Clean, d.Verdict)
	for name, gain := range map[string]func(int, float64) float64{
		"swings from side to side": func(_ int, v float64) float64 { return -1.3 * v },
		"contacts kick":            func(i int, v float64) float64 { return v * (1.3 + 1.2*hash(i)) },
		"falls at a constant rate": func(_ int, v float64) float64 { return v + 25 },
	} {
		assert.Equal(t, unknown, run(gain).feature(X30).Value, name)
	}
}

// TestFeedbackInStates: states alone, undivided, are enough for it.
func TestFeedbackInStates(t *testing.T) {
	vel := make([][2]float64, 0, 60)
	for i := range 30 {
		vel = append(vel, [2]float64{3 * hash(i, 1), 4 * hash(i, 2)})
	}
	for v := 4.0; v < 1e6; v *= 1.4 {
		vel = append(vel, [2]float64{1, v})
	}
	r := guardDump(vel, 6, []int{6}, 4096)
	r.states.Parts = nil
	c, d := r.judge()
	assert.Equal(t, yes, c.feature(X30).Value, c.feature(X30).Text)
	assert.Equal(t, BadModel, d.Causes[0].ID)
}
