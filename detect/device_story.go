package detect

import (
	"github.com/nanguard/nanguard/detect/scan/gpu"
	"github.com/nanguard/nanguard/dump"
)

// story fetches what the frozen engine holds, on a stream of the engine's own.
func (d *device) story() (*story, error) {
	shot, err := d.engine.Snapshot()
	if err != nil {
		return nil, err
	}
	s := &story{moment: d.momentOf(shot)}
	for i := range d.fields {
		t, err := d.told(shot, i)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, t)
	}
	if d.isNews(d.engine.Poll()) { // not poll, which is for who holds the lock
		t := d.trip()
		s.trip = &t
		d.turnBack(s)
	}
	bad, err := shot.BadEnvs()
	if err != nil {
		return nil, err
	}
	for _, b := range bad {
		s.badEnvs = append(s.badEnvs, badEnv{b.Env, d.since.tick + b.Tick})
	}
	s.frames = func(id int, rows []int) (*dump.Series, error) { return d.series(shot, id, rows) }
	return s, nil
}

// momentOf returns the guard's time of a snapshot.
func (d *device) momentOf(shot *gpu.Snapshot) moment {
	m := d.since
	m.tick += shot.Tick()
	for i := range m.counts {
		m.counts[i] += shot.Clock(i)
	}
	return m
}

// turnBack sets the time of a story to when a trip froze the recorder: it goes on
// counting, and where it is when somebody looks is chance. Of a clock without
// fields nothing is known but that.
func (d *device) turnBack(s *story) {
	last := d.since
	for i, f := range s.fields {
		c := d.fields[i].clock
		s.counts[c] = d.since.counts[c]
		if n := len(f.trace.Ticks); n > 0 {
			last.tick = max(last.tick, f.trace.Ticks[n-1])
			last.counts[c] = max(last.counts[c], f.trace.Counts[n-1])
		}
	}
	s.tick = last.tick
	for c, n := range last.counts {
		s.counts[c] = max(s.counts[c], n)
	}
}

// told returns what a snapshot says of a field.
func (d *device) told(shot *gpu.Snapshot, id int) (told, error) {
	var t told
	rows, err := shot.Trace(id)
	if err != nil {
		return t, err
	}
	t.trace = d.traceOf(rows, d.since.counts[d.fields[id].clock])
	frames, err := d.series(shot, id, []int{})
	if err != nil {
		return t, err
	}
	t.ticks = frames.Ticks
	if b, bad := shot.FirstBad(id); bad {
		t.first = d.firstBad(b)
	}
	return t, nil
}

// traceOf returns a trace as a dump holds it.
func (d *device) traceOf(rows []gpu.Row, since int64) *dump.Trace {
	t := &dump.Trace{}
	for i := range rows {
		r := &rows[i]
		t.Ticks = append(t.Ticks, d.since.tick+r.Tick)
		t.Counts = append(t.Counts, since+r.Count)
		t.NaN = append(t.NaN, r.NaN)
		t.PosInf = append(t.PosInf, r.PosInf)
		t.NegInf = append(t.NegInf, r.NegInf)
		t.AbsMax = append(t.AbsMax, r.AbsMax)
		t.ArgMax = append(t.ArgMax, r.ArgMax)
		t.Min = append(t.Min, r.Min)
		t.Max = append(t.Max, r.Max)
		t.Mean = append(t.Mean, r.Mean)
	}
	return t
}

// series fetches frames.
func (d *device) series(shot *gpu.Snapshot, id int, rows []int) (*dump.Series, error) {
	f, err := shot.Frames(id, rows)
	if err != nil {
		return nil, err
	}
	s := &dump.Series{Ticks: f.Ticks, Counts: f.Counts, Values: f.Values}
	for i := range s.Ticks {
		s.Ticks[i] += d.since.tick
		s.Counts[i] += d.since.counts[d.fields[id].clock]
	}
	return s, nil
}
