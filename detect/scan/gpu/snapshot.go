package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/tensor"
)

// Snapshot is what a frozen engine holds. It stays what it is until Rearm.
type Snapshot struct {
	e      *Engine
	state  kernel.State
	fields []kernel.Field
}

// ErrNotFrozen is returned by Snapshot while the engine still records.
var ErrNotFrozen = errors.New("the engine is still recording")

// Snapshot looks at a frozen engine. It waits for the device to come to a
// Freeze that was enqueued before, but not for work enqueued since.
func (e *Engine) Snapshot() (*Snapshot, error) {
	if e.closed {
		return nil, fmt.Errorf("snapshot: %w", errClosed)
	}
	s := &Snapshot{e: e, fields: make([]kernel.Field, len(e.fields))}
	if err := e.ctx.Wait(e.own, e.frozen); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := e.ctx.Download(e.own, bytesOf(&s.state), e.state()); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if s.state.Frozen == 0 {
		return nil, fmt.Errorf("snapshot: %w", ErrNotFrozen)
	}
	if len(s.fields) == 0 {
		return s, nil
	}
	if err := e.flush(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := e.ctx.Download(e.own, bytesOfSlice(s.fields), e.tableAt(0)); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return s, nil
}

// flush writes the rows of the traces that the next check would have written.
func (e *Engine) flush() error {
	fields := e.tableAt(0)
	return e.ctx.NewLaunch(e.kernels.flush, kernel.Threads, unsafe.Pointer(&fields)).Run(e.own, len(e.fields))
}

// turn returns the latest frame of a field.
func (s *Snapshot) turn(field int) kernel.Turn {
	t := &s.fields[field].Turns
	if t[1].Tick > t[0].Tick {
		return t[1]
	}
	return t[0]
}

// Tick returns the number of the last check.
func (s *Snapshot) Tick() int64 { return s.state.Tick }

// Clock returns the count of a clock.
func (s *Snapshot) Clock(clock int) int64 { return s.state.Clocks[clock] }

// FirstBad returns the first value of a field that was not finite. ok is false
// when all were finite.
func (s *Snapshot) FirstBad(field int) (b Bad, ok bool) {
	k := s.fields[field].First
	if k.Tick == 0 {
		return Bad{}, false
	}
	b = s.e.badOf(field, k.Key)
	b.Tick, b.Count, b.Rows = k.Tick, k.Count, int(k.Rows)
	return b, true
}

// BadEnv is an env of which a field that marks envs was not finite, and when
// that was first so.
type BadEnv struct {
	Env  int
	Tick int64
	Rank int // of the field, the smallest in that check
}

// BadEnvs returns the bad envs in the order in which they went bad.
func (s *Snapshot) BadEnvs() ([]BadEnv, error) {
	keys := make([]uint64, s.e.envs)
	if err := s.download(bytesOfSlice(keys), s.e.envKeys()); err != nil {
		return nil, fmt.Errorf("bad envs: %w", err)
	}
	var bad []BadEnv
	for env, k := range keys {
		if k != ^uint64(0) {
			bad = append(bad, BadEnv{Env: env, Tick: int64(k >> 20), Rank: int(k & (MaxRank - 1))})
		}
	}
	slices.SortFunc(bad, func(a, b BadEnv) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Env, b.Env))
	})
	return bad, nil
}

// Row is one row of a trace: what scan.Summary says of a frame, with the time
// of the frame.
type Row = kernel.Row

// Trace returns the trace of a field, oldest row first.
func (s *Snapshot) Trace(field int) ([]Row, error) {
	t, n := s.turn(field), s.e.fields[field].TraceLen
	rows := make([]Row, min(t.Frames, int64(n)))
	if err := s.download(bytesOfSlice(rows), s.e.at[field].trace); err != nil {
		return nil, fmt.Errorf("trace of field %d: %w", field, err)
	}
	if oldest := int(t.TraceAt) + 1; oldest < len(rows) {
		rows = append(rows[oldest:len(rows):len(rows)], rows[:oldest]...)
	}
	return rows, nil
}

// Frames are the captured frames of some rows of a field, oldest first.
type Frames struct {
	Ticks, Counts []int64
	Values        tensor.Array // frames x rows x cols
}

// Frames fetches rows of the frames of a field; nil means all rows.
func (s *Snapshot) Frames(field int, rows []int) (Frames, error) {
	trace, err := s.Trace(field)
	if err != nil {
		return Frames{}, err
	}
	f := &s.e.fields[field]
	n := int(s.turn(field).Held)
	var out Frames
	for _, r := range trace[len(trace)-n:] {
		out.Ticks, out.Counts = append(out.Ticks, r.Tick), append(out.Counts, r.Count)
	}
	runs := runsOf(rows, f.Rows)
	out.Values = tensor.NewArray(f.DType, n, countRows(runs), f.Cols)
	if err := s.fetch(out.Values.Data, field, n, runs); err != nil {
		return Frames{}, fmt.Errorf("frames of field %d: %w", field, err)
	}
	return out, nil
}

// run is a stretch of rows that follow each other.
type run struct{ from, rows int }

// runsOf joins rows that follow each other. nil stands for all of n.
func runsOf(rows []int, n int) []run {
	if rows == nil {
		return []run{{0, n}}
	}
	var runs []run
	for _, r := range rows {
		if k := len(runs) - 1; k >= 0 && runs[k].from+runs[k].rows == r {
			runs[k].rows++
			continue
		}
		runs = append(runs, run{r, 1})
	}
	return runs
}

// countRows returns how many rows the runs have together.
func countRows(runs []run) int {
	n := 0
	for _, r := range runs {
		n += r.rows
	}
	return n
}

// fetch fills dst with runs of rows of the last n frames, oldest first.
func (s *Snapshot) fetch(dst []byte, field, n int, runs []run) error {
	f := &s.e.fields[field]
	rowBytes := f.Cols * f.DType.Size()
	if n == 0 || len(dst) == 0 {
		return nil
	}
	frame := len(dst) / n
	oldest := (int(s.turn(field).Slot) + 1 - n + f.Slots) % f.Slots
	at := 0
	for _, r := range runs {
		if r.from < 0 || r.from+r.rows > f.Rows {
			return fmt.Errorf("rows %d to %d of %d", r.from, r.from+r.rows-1, f.Rows)
		}
		c := cuda.Rows{Width: r.rows * rowBytes, DstPitch: frame, SrcPitch: f.slotBytes()}
		for done := 0; done < n; done += c.N { // around the end of the ring
			slot := (oldest + done) % f.Slots
			c.N = min(n-done, f.Slots-slot)
			src := s.e.at[field].ring + cuda.Ptr(slot*f.slotBytes()+r.from*rowBytes)
			if err := s.e.ctx.DownloadRows(s.e.own, dst[done*frame+at:], src, c); err != nil {
				return err
			}
		}
		at += c.Width
	}
	return s.e.ctx.SynchronizeStream(s.e.own)
}

// download fills dst.
func (s *Snapshot) download(dst []byte, from cuda.Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	return s.e.ctx.Download(s.e.own, dst, from)
}
