package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// fall is what an env does between resets: its pose and its speeds by the frame of
// the episode, where the speeds begin from what the last episode left or from new.
type fall struct {
	pose    func(age int) float64         // rad
	speed   func(age, row, i int) float64 // rad/s
	carries func(row int) bool            // whether the speeds outlive the reset
	resets  func(i, row int) (reset bool) // before frame i
}

// run makes 80 steps of such falls.
func (b fall) run() *loopRun {
	r := newRun(80)
	q, v := r.fields["qpos"], r.fields["qvel"]
	for row, env := range r.man.EnvIDs {
		age, left := 0, 0.0
		for i := range v.v {
			if i > 0 && b.resets(i, row) {
				if left = 0; b.carries(row) {
					left = v.v[i-1][row][0]
				}
				age = 0
				r.event(dump.Event{Tick: v.ticks[i] - 1, Kind: dump.EventReset, Envs: []int{env}, Count: 1})
			}
			for col := range v.v[i][row] {
				q.v[i][row][col] = b.pose(age) + 0.001*hash(401, i, row, col)
				v.v[i][row][col] = left + b.speed(age, row, i) + 0.01*hash(402, i, row, col)
			}
			age++
		}
	}
	return r
}

// TestKeptSpeeds is X25 for a reset that puts the pose back and nothing else.
func TestKeptSpeeds(t *testing.T) {
	base := func() fall {
		return fall{
			pose:    func(age int) float64 { return 0.01 * float64(age) },
			speed:   func(age, _, _ int) float64 { return 0.2 * float64(age) },
			carries: func(int) bool { return true },
			resets:  func(i, row int) bool { return (i+7*row)%80 == 70 },
		}
	}
	c, d := base().run().judge()
	assert.Equal(t, atReset, c.feature(X25).Value, c.feature(X25).Text)
	assert.Equal(t, BadReset, d.Verdict)
	belt := base().run() // what crosses its end begins anew in one column
	for i, frame := range belt.fields["qpos"].v {
		for row := range frame {
			for col := 1; col < len(frame[row]); col++ {
				frame[row][col] = math.Sin(0.1*float64(i+row)) + float64(col)
			}
		}
	}
	_, d = belt.judge()
	assert.Equal(t, Clean, d.Verdict, "the end of a belt")
	for name, edit := range map[string]func(b *fall){
		"begins at rest": func(b *fall) { b.carries = func(int) bool { return false } },
		"begins pushed": func(b *fall) {
			b.carries = func(int) bool { return false }
			b.speed = func(age, row, i int) float64 { return 0.2*float64(age) + 15*hash(403, i-age, row, 0) }
		},
		"always the same speed": func(b *fall) {
			b.carries = func(int) bool { return false }
			b.speed = func(int, int, int) float64 { return 12 }
		},
		"no pose is put back": func(b *fall) { b.pose = func(int) float64 { return 0.3 } },
		"in one env":          func(b *fall) { b.carries = func(row int) bool { return row == 1 } },
		"at rest always":      func(b *fall) { b.speed = func(int, int, int) float64 { return 0 } },
		"few resets":          func(b *fall) { b.resets = func(i, row int) bool { return i == 200 && row < 3 } },
	} {
		b := base()
		edit(&b)
		c, d := b.run().judge()
		assert.Equal(t, Clean, d.Verdict, "%s: %s", name, c.feature(X25).Text)
	}
}
