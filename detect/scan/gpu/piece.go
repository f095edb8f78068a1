package gpu

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
)

// piece is memory that was taken at once: the first for the state, the table and
// the fields that the engine began with, each further one for fields that were
// added at once.
type piece struct {
	base cuda.Ptr
	plan plan
}

// bitmaps returns where the bitmaps of the piece lie and how long they are.
func (p *piece) bitmaps() (cuda.Ptr, int) {
	return p.base + cuda.Ptr(p.plan.bitmaps), p.plan.zeroEnd - p.plan.bitmaps
}

// fieldAt is where the parts of a field lie.
type fieldAt struct{ bitmap, partials, trace, ring cuda.Ptr }

// at returns where the parts of the piece's i-th field lie.
func (p *piece) at(i int) fieldAt {
	f := &p.plan.perField[i]
	return fieldAt{p.base + cuda.Ptr(f.bitmap), p.base + cuda.Ptr(f.partials), p.base + cuda.Ptr(f.trace), p.base + cuda.Ptr(f.ring)}
}

// known is what Poll needs to know of the fields. It is replaced, never changed.
type known struct {
	byRank map[int]int
	cols   []int
}

// allocate takes a piece, with shorter rings of the fields when there is not
// enough memory.
func (e *Engine) allocate(fields []Field, layout func() plan) (p piece, err error) {
	for {
		p.plan = layout()
		p.base, err = e.ctx.Alloc(max(1, p.plan.size))
		if cuda.ResultOf(err) != cuda.OutOfMemory || !fewerFrames(fields) {
			return p, err
		}
	}
}

// ErrNoPlace is returned by Add when the table has no place left.
var ErrNoPlace = errors.New("no place left in the table of fields")

// Places returns how many fields can still be added.
func (e *Engine) Places() int { return e.places - len(e.fields) }

// Add takes further fields in, numbered after those that there are. Checks and
// graphs that hold some go on as they are; what they recorded stays. When the
// device has not enough memory for the rings of the new fields, they get shorter.
//
// Add is for the goroutine of the checks, while no Snapshot is in use and the
// stream of the next check is not being captured. It waits for no check.
func (e *Engine) Add(fields []Field) error {
	if e.closed {
		return fmt.Errorf("add: %w", errClosed)
	}
	if len(fields) > e.Places() {
		return fmt.Errorf("add: %d fields: %w", len(fields), ErrNoPlace)
	}
	c := Config{NumEnvs: e.envs, Fields: slices.Concat(e.fields, fields)}
	if err := c.validate(); err != nil {
		return fmt.Errorf("add: %w", err)
	}
	n := len(e.fields)
	late := c.Fields[n:]
	p, err := e.allocate(late, func() plan { return placeLate(late, e.checks.readers) })
	if err != nil {
		return fmt.Errorf("add: %w", err)
	}
	if err := e.enroll(&p, n, late); err != nil {
		return errors.Join(fmt.Errorf("add: %w", err), e.ctx.Free(p.base))
	}
	e.take(p, late)
	return nil
}

// enroll writes the places in the table of fields that no check knows yet.
func (e *Engine) enroll(p *piece, from int, fields []Field) error {
	if at, n := p.bitmaps(); n > 0 {
		if err := e.ctx.Memset(e.own, at, 0, n); err != nil {
			return err
		}
	}
	table := make([]kernel.Field, len(fields))
	for i := range table {
		table[i] = entry(&fields[i], p.at(i), e.checks.readers)
	}
	if len(table) == 0 {
		return nil
	}
	return e.ctx.Upload(e.own, e.tableAt(from), bytesOfSlice(table))
}

// take makes a piece and its fields the engine's.
func (e *Engine) take(p piece, fields []Field) {
	k := &known{byRank: map[int]int{}}
	if was := e.known.Load(); was != nil {
		k.byRank, k.cols = maps.Clone(was.byRank), slices.Clone(was.cols)
	}
	e.pieces = append(e.pieces, p)
	for i := range fields {
		f := &fields[i]
		k.byRank[f.Rank] = len(e.fields)
		k.cols = append(k.cols, f.Cols)
		e.fields = append(e.fields, *f)
		e.at = append(e.at, p.at(i))
		e.checks.know(f)
	}
	e.known.Store(k)
}
