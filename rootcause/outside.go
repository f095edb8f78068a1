package rootcause

import (
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/mjb"
)

// bornBad finds that the state was bad before a substep ran, although the walk
// ended in what the substep, an observation or the policy made of it: the rows
// of the state vector are those before each step.
func (c *Case) bornBad(r *step) (step, bool) {
	if r.f == nil || r.env < 0 || !nonFinite(r.class) || slices.Contains(c.before, r.f) {
		return step{}, false
	}
	for _, f := range c.before {
		row := f.row(r.env)
		i := c.stateBefore(f, r)
		if row < 0 || i < 0 || f.cell(i, row).bad == 0 {
			continue
		}
		s := c.inFrame(f, i, row)
		s.tick = min(s.tick, r.tick)
		return s, true
	}
	return step{}, false
}

// stateBefore returns the frame of the state before the substep of a step's
// frame, or for a step that lies between substeps, before the next one.
func (c *Case) stateBefore(f *field, r *step) int {
	if f.len() == 0 || c.states == nil || len(c.states.Steps) != f.len() {
		return -1
	}
	want := c.states.Steps[0]
	if v := c.velocity(); r.f.kind.isBody() {
		want = r.count - 1
	} else if i := v.upTo(r.tick); i >= 0 && !slices.Contains(c.before, v) {
		want = tickCount(v.frames.Counts, i)
	}
	i, ok := slices.BinarySearch(c.states.Steps, want)
	if !ok {
		return -1
	}
	return i
}

// pair is a joint with one position and one speed that is its derivative.
type pair struct{ q, v int }

// pairs returns the joints of qpos and qvel that can be compared: hinges,
// slides and the translation of free joints, from the model or from equal names.
func (c *Case) pairs(q, v *field) []pair {
	var out []pair
	if c.model != nil {
		for _, j := range c.model.Joints {
			switch j.Type {
			case mjb.HingeJoint, mjb.SlideJoint:
				out = append(out, pair{j.QposAdr, j.DofAdr})
			case mjb.FreeJoint:
				for k := range 3 {
					out = append(out, pair{j.QposAdr + k, j.DofAdr + k})
				}
			}
		}
		return slices.DeleteFunc(out, func(p pair) bool { return p.q >= q.to-q.from || p.v >= v.to-v.from })
	}
	for col := range min(v.to-v.from, len(v.names)) {
		if k := slices.Index(q.names, v.names[col]); k >= 0 {
			out = append(out, pair{k, col})
		}
	}
	return out
}

// settle is how many frames before the root a reset may lie to be its cause.
const settle = 3

// outsideWrite is X11: positions and speeds that no step of the integrator
// connects, since q moves by v*dt. A speed that the position did not follow was
// written from outside the physics; a pose that jumped without speed is a reset
// that nobody noted.
func (c *Case) outsideWrite() Feature {
	r := c.root()
	q, v := c.first(qpos), c.first(qvel)
	dt := c.timestep()
	if !r.is(body...) || r.row < 0 || q.len() != v.len() || v.len() < 2 || dt <= 0 {
		return unmeasured("qpos and qvel with their joints and the timestep")
	}
	joints := c.pairs(q, v)
	row := v.row(r.env)
	k := v.upTo(r.tick)
	if len(joints) == 0 || row < 0 || k < 1 || q.row(r.env) != row || v.frames.Ticks[k] != r.tick {
		return unmeasured("qpos and qvel of the env where it ran away, and the frame before")
	}
	if cutBetween(c.resets[r.env], v.frames.Ticks[k-1], v.frames.Ticks[k]) {
		return unmeasured("a frame between the reset and the substep after it")
	}
	exact := c.integrates(q, v, joints, row)
	p, moved, want := c.unfollowed(q, v, joints, k, row)
	tiny, ordinary := moved < 1e-3*want, moved <= c.ordinaryMove(v, k, row)
	written := want > 1 && (exact && (tiny || ordinary) || c.leapt(v, k, row) && tiny && ordinary)
	until := k
	if !written && v.cell(k, row).max > v.limit {
		until-- // what runs away throws the pose about by itself
	}
	if f, ok := c.poseJump(q, v, joints, until, k); ok {
		if written && *f.Tick == r.tick {
			f.Value, f.Text = "state", f.Text+fmt.Sprintf(", and the reset left %s at %s", v.label(p.v), c.quantity(v, p.v, v.at(k, row, p.v)))
		}
		return f
	}
	if written {
		f := found("velocity", fmt.Sprintf("%s%s was written from outside the physics: at %s it would have moved %s in the step of %s s, and it moved %s",
			v.label(p.v), inEnv(r.env), c.quantity(v, p.v, v.at(k, row, p.v)), num(want), num(dt), num(moved)))
		f.Measured, f.Baseline = moved, want
		return f.in(v, r.env, p.v, r.tick)
	}
	if !exact {
		return idle("positions do not follow speeds exactly in this integrator")
	}
	if _, ok := c.bornBeyondNoted(); ok {
		return idle("positions and speeds agree up to where it ran away, from a pose that a reset had written")
	}
	return found(no, "positions and speeds agree up to where it ran away: the physics did it")
}

// ordinaryMove returns how far the fastest joint of a row moves in a step at ten
// times its last speed, or the healthy one. What moved further was moved by the
// physics, whatever its integrator.
func (c *Case) ordinaryMove(v *field, k, row int) float64 {
	return 10 * c.timestep() * math.Max(v.cell(k-1, row).max, math.Max(v.base, 1))
}

// writtenOutside reports whether the speeds at the root were written by a reset
// or another outsider.
func (c *Case) writtenOutside() bool {
	v := c.outsideWrite().Value
	return v == "velocity" || v == "state"
}

// framesBefore says how long before it ran away something happened.
func framesBefore(n int) string {
	switch n {
	case 0:
		return "in the frame in which it ran away"
	case 1:
		return "in the frame before it ran away"
	}
	return fmt.Sprintf("%d frames before it ran away", n)
}

// poseJump finds a reset that nobody noted in the frames before it ran away.
func (c *Case) poseJump(q, v *field, joints []pair, until, k int) (Feature, bool) {
	r := c.root()
	jumps := c.teleports(q, v, joints, v.row(r.env))
	for i := max(1, k-settle); i <= until; i++ {
		if !jumps[i] || cutBetween(c.resets[r.env], v.frames.Ticks[i-1], v.frames.Ticks[i]) {
			continue
		}
		if level := v.median(v.row(r.env), max(0, i-calmFor), i); level > excited {
			continue // it was reset because it was running away already
		}
		f := found("pose", fmt.Sprintf("the pose of env %d jumped at tick %d without the speed for it, as a reset does, %s", r.env, v.frames.Ticks[i], framesBefore(k-i)))
		f.Base = float64(settle*count(jumps)+1) / float64(v.len()+2)
		return f.in(q, r.env, -1, v.frames.Ticks[i]), true
	}
	return Feature{}, false
}

// integrates reports whether positions follow speeds exactly in the calm frames
// of a row, as under semi-implicit Euler with the step that is known. Under
// Runge-Kutta, or where frames are several steps apart, they do not, and then
// nothing can be said.
func (c *Case) integrates(q, v *field, joints []pair, row int) bool {
	var off []float64
	for k := 1; k < v.len(); k++ {
		for _, j := range joints {
			want := c.timestep() * v.at(k, row, j.v)
			got := q.at(k, row, j.q) - q.at(k-1, row, j.q)
			if math.Abs(want) > 1e-4 && v.cell(k, row).max < v.limit && finite(got) {
				off = append(off, math.Abs(got-want)/math.Abs(want))
			}
		}
	}
	if len(off) < 10 {
		return false
	}
	slices.Sort(off)
	return off[len(off)/2] < 0.01
}

// leapt reports whether the speeds grew by six decades in one frame: no
// integrator's last stage does that from a state that was ordinary.
func (c *Case) leapt(v *field, k, row int) bool {
	was, is := v.cell(k-1, row), v.cell(k, row)
	return was.bad == 0 && was.max < v.limit && is.max > decades*math.Max(was.max, v.base)
}

// unfollowed returns the fastest joint that did not move as its speed says, with
// how far it moved and should have moved.
func (c *Case) unfollowed(q, v *field, joints []pair, k, row int) (p pair, moved, want float64) {
	for _, j := range joints {
		w := math.Abs(c.timestep() * v.at(k, row, j.v))
		m := math.Abs(q.at(k, row, j.q) - q.at(k-1, row, j.q))
		if finite(w) && finite(m) && w > want && m < 0.1*w {
			p, moved, want = j, m, w
		}
	}
	return p, moved, want
}

// teleports marks the frames in which two or more joints of a row jumped
// without the speed for it, that before the step or that after it.
func (c *Case) teleports(q, v *field, joints []pair, row int) []bool {
	dt := c.timestep()
	out := make([]bool, v.len())
	for k := 1; k < v.len(); k++ {
		n := 0
		for _, j := range joints {
			was, is := math.Abs(dt*v.at(k-1, row, j.v)), math.Abs(dt*v.at(k, row, j.v))
			m := math.Abs(q.at(k, row, j.q) - q.at(k-1, row, j.q))
			if m > 0.1 && (m > 10*is || m > 10*was && m < 0.1*is) {
				n++
			}
		}
		out[k] = n >= 2 || n == 1 && len(joints) < 4
	}
	return out
}

// count returns how many are true.
func count(v []bool) int {
	n := 0
	for _, x := range v {
		if x {
			n++
		}
	}
	return n
}

// followed reports whether some position of a row moved far more in frame k than
// any ordinary speed explains.
func (c *Case) followed(q, v *field, k, row int) bool {
	dt := c.timestep()
	if q.len() != v.len() || dt <= 0 || q.row(v.env(row)) != row {
		return false
	}
	for _, j := range c.pairs(q, v) {
		if m := math.Abs(q.at(k, row, j.q) - q.at(k-1, row, j.q)); finite(m) && m > 10*c.ordinaryMove(v, k, row) {
			return true
		}
	}
	return false
}
