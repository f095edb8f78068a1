package detect

import (
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// field is one watched array.
type field struct {
	spec  dump.FieldSpec
	clock int        // index in clocks
	ref   tensor.Ref // as it was bound
	ring  ring
	trace trace

	last  scan.Summary // of the latest check
	seen  int64        // tick of the latest check
	first *dump.FirstBad

	address  uintptr // at the latest check or, before that, at binding
	captured uintptr // that a graph recorded, 0 for none
	moved    bool    // away from captured, and noted
}

// newField returns a field after looking at what the caller says of it.
func newField(name string, ref tensor.Ref, o FieldOptions, numEnvs int) (*field, error) {
	if err := dump.CheckName(name); err != nil {
		return nil, &MisuseError{Call: "bind", Err: err}
	}
	p, err := locate(name, o)
	if err != nil {
		return nil, err
	}
	rows := numEnvs
	if o.Shared {
		rows = 1
	}
	switch {
	case ref.Mem != tensor.Host:
		return nil, misuse("bind", name, "memory of a device: this guard reads host memory")
	case ref.DType.Size() == 0:
		return nil, misuse("bind", name, "dtype %v", ref.DType)
	case ref.Rows != rows || ref.Cols < 0:
		return nil, misuse("bind", name, "%d rows x %d columns, want %d rows", ref.Rows, ref.Cols, rows)
	case len(o.Cols) != 0 && len(o.Cols) != ref.Cols:
		return nil, misuse("bind", name, "%d labels for %d columns", len(o.Cols), ref.Cols)
	}
	return &field{
		spec: dump.FieldSpec{
			Name: name, Stage: p.stage, Clock: p.clock, Order: p.order, DType: ref.DType.String(),
			Cols: o.Cols, Unit: o.Unit, PerEnv: !o.Shared,
		},
		clock: clockIndex(p.clock), ref: ref, address: ref.Address(),
	}, nil
}

// collides reports whether two fields would claim the same entry of a dump.
func (f *field) collides(name string) bool {
	for _, part := range []string{"", ".tick", ".count"} {
		if f.spec.Name+part == name || f.spec.Name == name+part {
			return true
		}
	}
	return false
}

// accepts reports why ref cannot be a capture of the field.
func (f *field) accepts(ref tensor.Ref) error {
	switch {
	case ref.DType != f.ref.DType:
		return misuse("check", f.spec.Name, "%w: %v when it was bound, now %v", ErrChanged, f.ref.DType, ref.DType)
	case ref.Rows != f.ref.Rows || ref.Cols != f.ref.Cols:
		return misuse("check", f.spec.Name, "%w: %d x %d when it was bound, now %d x %d", ErrChanged,
			f.ref.Rows, f.ref.Cols, ref.Rows, ref.Cols)
	case ref.Mem != f.ref.Mem:
		return misuse("check", f.spec.Name, "%w: host memory when it was bound, now that of a device", ErrChanged)
	case ref.Base == nil && ref.Bytes() > 0:
		return misuse("check", f.spec.Name, "%w: it was bound without one, so Check needs it", ErrNoAddress)
	}
	return nil
}

// capture copies the field into the ring and summarises the copy, so that what
// is recorded is what was judged even when another thread writes meanwhile. It
// reports whether every value is finite.
func (f *field) capture(ref tensor.Ref, tick, count int64) bool {
	slot := f.ring.room()
	scan.Copy(slot, ref)
	f.last = scan.Host(f.view(slot))
	f.ring.push(tick, count)
	f.trace.push(tick, count, &f.last)
	return f.last.First.Class == tensor.Finite
}

// view returns a slot of the ring as an array.
func (f *field) view(slot []byte) tensor.Ref {
	size := f.ref.DType.Size()
	return tensor.Ref{
		Base: unsafe.Pointer(unsafe.SliceData(slot)), DType: f.ref.DType,
		Rows: f.ref.Rows, Cols: f.ref.Cols, RowStride: f.ref.Cols * size, ColStride: size,
	}
}

// frames returns the captured frames of the given rows, oldest first. Rows are
// those of the field: row 0 alone when it is not per env.
func (f *field) frames(rows []int) *dump.Series {
	if !f.spec.PerEnv {
		rows = []int{0}
	}
	s := &dump.Series{Values: tensor.NewArray(f.ref.DType, f.ring.n, len(rows), f.ref.Cols)}
	row := f.ref.Cols * f.ref.DType.Size()
	to := s.Values.Data
	for i := range f.ring.n {
		k := f.ring.oldest(i)
		s.Ticks = append(s.Ticks, f.ring.ticks[k])
		s.Counts = append(s.Counts, f.ring.counts[k])
		slot := f.ring.slot(k)
		for _, r := range rows {
			copy(to, slot[r*row:(r+1)*row])
			to = to[row:]
		}
	}
	return s
}
