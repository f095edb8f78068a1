package recording

import (
	"errors"
	"fmt"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/dump"
)

// Field is one watched array.
type Field struct {
	Spec    dump.FieldSpec // raw, as the file has it
	Name    string
	Columns []string
	Frames  *Track // nil until loaded, and when the file holds no frame
	Trace   *Track // nil until loaded, and when the file holds no trace
	Loaded  bool
	Err     error // why there is neither frame nor trace
}

func newField(s dump.FieldSpec) *Field {
	return &Field{Spec: s, Name: cell.Clean(s.Name)}
}

// Track returns the frames of the field, or its trace where trace is asked for
// or nothing else is there; isTrace says which, and a nil track that there is
// neither.
func (f *Field) Track(trace bool) (t *Track, isTrace bool) {
	if f.Trace != nil && (trace || f.Frames == nil) {
		return f.Trace, true
	}
	return f.Frames, false
}

// Label returns the label of a column of the frames or of the trace.
func (f *Field) Label(col int, trace bool) string {
	labels := f.Columns
	if trace && f.Trace != nil {
		labels = f.Trace.labels
	}
	if col >= 0 && col < len(labels) && labels[col] != "" {
		return labels[col]
	}
	return fmt.Sprintf("[%d]", col)
}

// Loaded is what Load read of one field.
type Loaded struct {
	index         int
	columns       []string
	frames, trace *Track
	err           error
}

// Pending returns the index of the next field to load: prefer if it is not
// loaded yet, else the first that is not. ok is false when all are.
func (r *Recording) Pending(prefer int) (index int, ok bool) {
	if prefer >= 0 && prefer < len(r.Fields) && !r.Fields[prefer].Loaded {
		return prefer, true
	}
	for i, f := range r.Fields {
		if !f.Loaded {
			return i, true
		}
	}
	return 0, false
}

// Load reads a field's frames and trace. It changes nothing and may run beside
// everything but another Load. A panic on the way is the error of this field.
func (r *Recording) Load(index int) (l Loaded) {
	defer func() {
		if p := recover(); p != nil {
			l = Loaded{index: index, err: fmt.Errorf("reading it broke: %v", p)}
		}
	}()
	spec := &r.Fields[index].Spec
	name := spec.Name
	l.index = index
	for _, c := range r.src.Columns(name) {
		l.columns = append(l.columns, cell.Clean(c))
	}
	s, err := r.src.Frames(name)
	if err == nil && s != nil {
		l.frames, err = newTrack(s)
	}
	tr, trErr := r.src.Trace(name)
	if trErr == nil && tr != nil {
		l.trace, trErr = newTraceTrack(tr, spec.PerEnv)
	}
	l.err = reason(l, err, trErr)
	return l
}

// reason returns why a field cannot be shown, nil when it can. That a file
// holds no trace is no fault.
func reason(l Loaded, frames, trace error) error {
	switch {
	case l.frames != nil || l.trace != nil:
		return nil
	case frames != nil && !errors.Is(frames, dump.ErrNoEntry):
		return frames
	case trace != nil && !errors.Is(trace, dump.ErrNoEntry):
		return trace
	}
	return errors.New("no frame and no trace of it in the file")
}

// Install takes a loaded field in: it joins the time axis, and envs learn when
// they first went bad.
func (r *Recording) Install(l Loaded) {
	f := r.Fields[l.index]
	f.Loaded, f.Columns, f.Frames, f.Trace, f.Err = true, l.columns, l.frames, l.trace, l.err
	if f.Frames != nil {
		r.ticks = merge(r.ticks, f.Frames.ticks)
		r.noteEnvs(f.Frames)
	}
	r.mark()
}

// merge returns the union of two ascending lists without repeats.
func merge(a, b []int64) []int64 {
	out := make([]int64, 0, len(a)+len(b))
	add := func(v int64) {
		if n := len(out); n == 0 || out[n-1] != v {
			out = append(out, v)
		}
	}
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			add(a[0])
			a = a[1:]
		} else {
			add(b[0])
			b = b[1:]
		}
	}
	for _, rest := range [][]int64{a, b} {
		for _, v := range rest {
			add(v)
		}
	}
	return out
}
