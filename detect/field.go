package detect

import (
	"fmt"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// field is one watched array.
type field struct {
	id     int // its FieldID
	spec   dump.FieldSpec
	clock  int        // index in clocks
	ref    tensor.Ref // as it was bound
	rank   int        // place in the loop among the fields that are recorded
	limit  float64
	growth Growth
	seen   uint64 // the latest check that had it

	address  uintptr // at the latest check or, before that, at binding
	captured uintptr // that a graph recorded, 0 for none
	moved    bool    // away from captured, and noted
	unseen   bool    // from a graph, and noted
}

// maxFrameBytes bounds a frame, so that numbers of bytes can be computed with.
const maxFrameBytes = 1 << 40

// newField returns a field after looking at what the caller says of it.
func newField(name string, ref tensor.Ref, o FieldOptions, cfg *Config) (*field, error) {
	if err := dump.CheckName(name); err != nil {
		return nil, &MisuseError{Call: "bind", Err: err}
	}
	p, err := locate(name, o)
	if err != nil {
		return nil, err
	}
	rows := cfg.NumEnvs
	if o.Shared {
		rows = 1
	}
	switch {
	case ref.Mem != tensor.Host && ref.Mem != tensor.CUDA:
		return nil, misuse("bind", name, "memory of kind %d", ref.Mem)
	case ref.DType.Size() == 0:
		return nil, misuse("bind", name, "dtype %v", ref.DType)
	case ref.Rows != rows || ref.Cols < 0:
		return nil, misuse("bind", name, "%d rows x %d columns, want %d rows", ref.Rows, ref.Cols, rows)
	case ref.Cols > maxFrameBytes/ref.Rows/ref.DType.Size():
		return nil, misuse("bind", name, "%d rows x %d columns of %v are more than any memory holds", ref.Rows, ref.Cols, ref.DType)
	case len(o.Cols) != 0 && len(o.Cols) != ref.Cols:
		return nil, misuse("bind", name, "%d labels for %d columns", len(o.Cols), ref.Cols)
	}
	if err := o.checkLimits(cfg.TraceLen); err != nil {
		return nil, misuse("bind", name, "%w", err)
	}
	return &field{
		spec: dump.FieldSpec{
			Name: name, Stage: p.stage, Clock: p.clock, Order: p.order, DType: ref.DType.String(),
			Cols: o.Cols, Unit: o.Unit, PerEnv: !o.Shared,
		},
		clock: clockIndex(p.clock), ref: ref, address: ref.Address(), limit: o.Limit, growth: o.Growth,
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
func (f *field) accepts(ref *tensor.Ref) error {
	switch {
	case ref.DType != f.ref.DType:
		return misuse("check", f.spec.Name, "%w: %v when it was bound, now %v", ErrChanged, f.ref.DType, ref.DType)
	case ref.Rows != f.ref.Rows || ref.Cols != f.ref.Cols:
		return misuse("check", f.spec.Name, "%w: %d x %d when it was bound, now %d x %d", ErrChanged,
			f.ref.Rows, f.ref.Cols, ref.Rows, ref.Cols)
	case ref.Mem != f.ref.Mem || ref.Device != f.ref.Device:
		return misuse("check", f.spec.Name, "%w: %s when it was bound, now %s", ErrChanged, memoryOf(&f.ref), memoryOf(ref))
	case ref.Address() == 0 && ref.Bytes() > 0:
		return misuse("check", f.spec.Name, "%w: it was bound without one, so Check needs it", ErrNoAddress)
	}
	return nil
}

// memoryOf says where the memory of a ref lies.
func memoryOf(ref *tensor.Ref) string {
	if ref.Mem == tensor.Host {
		return "host memory"
	}
	return fmt.Sprintf("memory of GPU %d", ref.Device)
}

// envOf returns the env of a row, nil when rows are not envs.
func (f *field) envOf(row int) *int {
	if !f.spec.PerEnv {
		return nil
	}
	return &row
}

// rows returns which rows of the field belong to envs: row 0 alone when it is
// not per env.
func (f *field) rows(envs []int) []int {
	if !f.spec.PerEnv {
		return []int{0}
	}
	return envs
}
