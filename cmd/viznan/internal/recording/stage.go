package recording

import "slices"

// Stage is a moment from which a field of an env is in a worse state than
// before.
type Stage struct {
	Tick  int64
	Class string // "nan", "posinf", "neginf", "huge", or a precursor's class as the diagnosis has it
	// Diagnosed is true for a precursor, which the diagnosis judged by more than
	// the values of one frame.
	Diagnosed bool
}

// Finite reports whether the values of the stage are finite.
func (s Stage) Finite() bool { return finiteClass(s.Class) }

// classHuge is the class of finite values beyond Huge.
const classHuge = "huge"

// Stages returns what became of a field in an env, in tick order: the precursor
// that the diagnosis saw, the first huge value, and at the end the first
// non-finite one. Each is there only if it came before those behind it.
func (r *Recording) Stages(f *Field, env int) (list []Stage) {
	if s, ok := r.precursor(f, env); ok {
		list = append(list, s)
	}
	t, _ := f.Track(false)
	if t == nil {
		return list
	}
	row, ok := t.Row(env)
	if !ok {
		return list
	}
	if i := t.huge[row]; i >= 0 {
		list = join(list, Stage{Tick: t.Tick(i), Class: classHuge})
	}
	if i, ok := t.Onset(row); ok {
		list = join(list, Stage{Tick: t.Tick(i), Class: t.class(i, row)})
	}
	return list
}

// join puts a stage behind those of a list that came before it. One whose class
// the list has is no news.
func join(list []Stage, s Stage) []Stage {
	list = slices.DeleteFunc(list, func(a Stage) bool { return a.Tick >= s.Tick })
	if slices.ContainsFunc(list, func(a Stage) bool { return a.Class == s.Class }) {
		return list
	}
	return append(list, s)
}

// precursor returns the moment from which the diagnosis calls a field of an env
// huge, growing or negative.
func (r *Recording) precursor(f *Field, env int) (Stage, bool) {
	if r.Diagnosis == nil {
		return Stage{}, false
	}
	for _, o := range r.Diagnosis.Order {
		if Precursor(o) && o.Field == f.Spec.Name && (o.Env == nil || *o.Env == env) {
			return Stage{o.Tick, o.Class, true}, true
		}
	}
	return Stage{}, false
}

// class names what is not finite in a row of frame i: in a trace by its counts,
// NaN before all; else by the first such column, as a trip does.
func (t *Track) class(i, row int) string {
	h := t.Health(i, row)
	if t.labels == nil {
		for _, v := range t.Values(i, row) {
			if h = healthOf(v); h.Bad() {
				break
			}
		}
	}
	switch {
	case h&HasNaN != 0:
		return "nan"
	case h&HasPosInf != 0:
		return "posinf"
	}
	return "neginf"
}
