package ui

import (
	"fmt"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/dump"
)

// scene is what is looked at. Panes read it; only the model's actions change
// it.
type scene struct {
	rec   *recording.Recording
	st    *Styles
	spot  recording.Spot // Field, Env and Col index what is selected
	moved bool           // a person chose the place: a diagnosis must not move it

	trace, compare, faults bool
	sort                   sortOrder

	seen columnFaults // of the track that is looked at
}

// field returns the selected field, nil when the dump has none.
func (s *scene) field() *recording.Field {
	if i := s.spot.Field; i >= 0 && i < len(s.rec.Fields) {
		return s.rec.Fields[i]
	}
	return nil
}

// track returns the frames or the trace of the selected field, nil when there
// is neither.
func (s *scene) track() (t *recording.Track, isTrace bool) {
	f := s.field()
	if f == nil {
		return nil, false
	}
	return f.Track(s.trace)
}

// env returns the selected env.
func (s *scene) env() (recording.Env, bool) {
	if i := s.spot.Env; i >= 0 && i < len(s.rec.Envs) {
		return s.rec.Envs[i], true
	}
	return recording.Env{}, false
}

// envID returns the number of the selected env, -1 when there is none.
func (s *scene) envID() int {
	if e, ok := s.env(); ok {
		return e.ID
	}
	return -1
}

// view is one row of one frame of a track.
type view struct {
	track      *recording.Track
	trace      bool
	frame, row int
}

// view returns what stands at the moment for the selected field and env; why
// says what is missing when ok is false.
func (s *scene) view() (v view, why string, ok bool) {
	f := s.field()
	switch {
	case f == nil:
		return v, "the dump holds no fields", false
	case !f.Loaded:
		return v, "reading …", false
	case f.Err != nil:
		return v, f.Err.Error(), false
	}
	v.track, v.trace = s.track()
	if v.row, ok = v.track.Row(s.envID()); !ok {
		return v, fmt.Sprintf("env %d is not in the file", s.envID()), false
	}
	if v.frame, ok = v.track.At(s.spot.Tick); !ok {
		if v.track.Len() == 0 {
			return v, "no frame was captured", false
		}
		return v, fmt.Sprintf("nothing recorded up to tick %d; first frame at tick %d", s.spot.Tick, v.track.Tick(0)), false
	}
	return v, "", true
}

// of returns the view's counterpart in another env.
func (v view) of(env recording.Env) (view, bool) {
	row, ok := v.track.Row(env.ID)
	v.row = row
	return v, ok
}

// reference returns the env that is compared with, when comparing is on and
// there is one.
func (s *scene) reference() (recording.Env, bool) {
	i, ok := s.rec.Reference(s.spot.Env)
	if !ok || !s.compare {
		return recording.Env{}, false
	}
	return s.rec.Envs[i], true
}

// compared returns the view's counterpart in the env that is compared with.
func (s *scene) compared(v view) (view, bool) {
	e, ok := s.reference()
	if !ok || !v.track.PerEnv() {
		return v, false
	}
	return v.of(e)
}

// goTo moves to a place; what the place leaves open stays as it is.
func (s *scene) goTo(to recording.Spot) {
	if to.Field >= 0 {
		s.setField(to.Field)
	}
	if to.Env >= 0 && to.Env < len(s.rec.Envs) {
		s.spot.Env = to.Env
	}
	if to.Col >= 0 {
		s.spot.Col = to.Col
	}
	s.spot.Tick = to.Tick
}

// setField selects a field; a column that it does not have is not kept.
func (s *scene) setField(i int) {
	s.spot.Field = i
	if t, _ := s.track(); t != nil && s.spot.Col >= t.Cols() {
		s.spot.Col = 0
	}
}

// step moves n frames of the selected field, or ticks where it has none.
func (s *scene) step(n int) {
	if t, _ := s.track(); t != nil && t.Len() > 0 {
		s.spot.Tick = t.Step(s.spot.Tick, n)
		return
	}
	s.spot.Tick = s.rec.Step(s.spot.Tick, n)
}

// edge moves to the first or the last frame of the selected field.
func (s *scene) edge(last bool) {
	n := -1 << 30
	if last {
		n = 1 << 30
	}
	s.step(n)
}

// atEnd reports whether no frame of the selected field lies ahead.
func (s *scene) atEnd() bool {
	before := s.spot.Tick
	s.step(1)
	end := s.spot.Tick == before
	s.spot.Tick = before
	return end
}

// clock says a count of a field's clock in words: "substep 30".
func (s *scene) clock(f *recording.Field, t *recording.Track, frame int) string {
	name := string(f.Spec.Clock)
	if name == "" {
		name = "count"
	}
	text := fmt.Sprintf("%s %d", clean(name), t.Count(frame))
	if f.Spec.Name == dump.StateField && s.rec.BeforeStep {
		text = "before " + text
	}
	return text
}

// roleGlyphs tell the roles of envs apart without colour.
var roleGlyphs = map[dump.Role]string{dump.RoleCulprit: "✗", dump.RoleSuspect: "?", dump.RoleControl: "·"}
