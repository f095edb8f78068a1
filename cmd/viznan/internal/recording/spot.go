package recording

import (
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

// Spot is a place in a recording: indexes of Fields and Envs, a column and a
// tick. Env and Col are -1 where the place has none.
type Spot struct {
	Field, Env, Col int
	Tick            int64
}

// at resolves a place that the file names. ok is false when the field is not
// among those of the file.
func (r *Recording) at(field string, env *int, col int, tick int64) (Spot, bool) {
	s := Spot{Field: r.Field(field), Env: -1, Col: col, Tick: tick}
	if env != nil {
		s.Env = r.Env(*env)
	}
	return s, s.Field >= 0
}

// OnsetSpot returns the place of an onset; ok is false for nil and for a field
// that the file does not hold.
func (r *Recording) OnsetSpot(o *rootcause.Onset) (Spot, bool) {
	if o == nil {
		return Spot{}, false
	}
	return r.at(o.Field, o.Env, o.Col, o.Tick)
}

// EvidenceSpot returns the place where evidence was seen; ok is false when it
// names none.
func (r *Recording) EvidenceSpot(e rootcause.Evidence) (Spot, bool) {
	if e.Field == "" || e.Tick == nil {
		return Spot{}, false
	}
	col := -1
	if e.Col != nil {
		col = *e.Col
	}
	return r.at(e.Field, e.Env, col, *e.Tick)
}

// FirstBad returns where the first non-finite value is: as the diagnosis, the
// trip or the frames that are loaded have it, in this order.
func (r *Recording) FirstBad() (Spot, bool) {
	if r.Diagnosis != nil {
		if s, ok := r.OnsetSpot(r.Diagnosis.FirstBad); ok {
			return s, true
		}
	}
	if t := r.manifest.Trip; t != nil {
		if s, ok := r.at(t.Field, t.Env, t.Col, t.Tick); ok {
			return s, true
		}
	}
	return r.firstSeen()
}

// firstSeen returns the first bad value of the frames that are loaded: the
// smallest (tick, field order, row, column).
func (r *Recording) firstSeen() (s Spot, ok bool) {
	for i, f := range r.Fields {
		if f.Spec.Stage == dump.StageMonitor {
			continue // never takes the trip
		}
		o, bad := f.firstOnset()
		if !bad || ok && o.tick >= s.Tick {
			continue
		}
		s, ok = Spot{Field: i, Env: -1, Tick: o.tick}, true
		if o.env != nil {
			s.Env = r.Env(*o.env)
		}
		for c, v := range f.Frames.Values(o.frame, o.row) {
			if healthOf(v).Bad() {
				s.Col = c
				break
			}
		}
	}
	return s, ok
}

// Start returns where a person should look first: the first bad value, else
// where it began, else the last state before the dump was asked for. Where that
// place names no env, or one that is not in the file, the leading env is looked
// at.
func (r *Recording) Start() Spot {
	s := r.start()
	if s.Env < 0 || r.Envs[s.Env].Missing {
		s.Env = r.lead()
	}
	return s
}

func (r *Recording) start() Spot {
	if s, ok := r.FirstBad(); ok {
		return s
	}
	if r.Diagnosis != nil {
		if s, ok := r.OnsetSpot(r.Diagnosis.Root); ok {
			return s
		}
	}
	s := Spot{Field: max(r.Field(dump.StateField), 0), Env: -1, Col: 0}
	_, s.Tick, _ = r.Span()
	return s
}

// Trip returns the first bad value in words of the diagnosis, or of the
// manifest before there is one; nil when nothing is bad.
func (r *Recording) Trip() *rootcause.Onset {
	if r.Diagnosis != nil {
		return r.Diagnosis.FirstBad
	}
	t := r.manifest.Trip
	if t == nil {
		return nil
	}
	o := rootcause.Onset{
		Field: t.Field, Env: t.Env, Col: t.Col, Tick: t.Tick,
		Clock: string(t.Clock), Count: t.Count, Class: t.Class,
	}
	if i := r.Field(t.Field); i >= 0 {
		o.Column = r.Fields[i].Label(t.Col, false)
	}
	cleanOnset(&o)
	return &o
}
