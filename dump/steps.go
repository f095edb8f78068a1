package dump

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/tensor"
)

// stepEntries are the entries of one field that has an entry per step, such as
// states_step_000123, by ascending step.
type stepEntries struct {
	prefix string
	list   []stepEntry
	shape  stepShape // of the frames that are taken
	err    error     // what is wrong with the first entry that is not
}

// stepEntry is one of them.
type stepEntry struct {
	step int64
	name string
}

// stepShape is what one frame looks like.
type stepShape struct {
	dtype      tensor.DType
	rows, cols int
}

// String returns the shape as a message shows it.
func (s stepShape) String() string { return fmt.Sprintf("%s (%d, %d)", s.dtype, s.rows, s.cols) }

// bytes returns the length of a frame.
func (s stepShape) bytes() int64 {
	return int64(s.rows) * int64(s.cols) * int64(s.dtype.Size())
}

// findSteps collects the entries with a prefix. Step numbers grow past their
// six digits, so they are compared as numbers.
func (a *archive) findSteps(prefix string) (s stepEntries, warnings []error) {
	var odd problems
	s.prefix = prefix
	for _, name := range a.names {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 62)
		if err != nil {
			odd.add(name, errors.New("no step number in the name; left out"))
			continue
		}
		s.list = append(s.list, stepEntry{int64(n), name})
	}
	slices.SortStableFunc(s.list, func(a, b stepEntry) int { return cmp.Compare(a.step, b.step) })
	s.list = slices.CompactFunc(s.list, func(next, kept stepEntry) bool {
		if next.step == kept.step {
			odd.add(next.name, fmt.Errorf("the same step as %s, which counts; left out", quote(kept.name)))
		}
		return next.step == kept.step
	})
	return s, append(odd.warnings(), s.gaps())
}

// gaps says where step numbers are missing.
func (s stepEntries) gaps() error {
	var n, missing int64
	var first string
	for i := 1; i < len(s.list); i++ {
		from, to := s.list[i-1].step, s.list[i].step
		if to == from+1 {
			continue
		}
		if n++; n == 1 {
			first = fmt.Sprintf("step %d is followed by step %d", from, to)
		}
		missing += to - from - 1
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("entries %s*: %d steps are missing: %s%s", s.prefix, missing, first, moreText(n-1))
}

// frameShape returns the shape of a frame whose entry has the header. A frame
// without rows is one row.
func frameShape(h arrayHeader) (stepShape, error) {
	s := stepShape{dtype: h.elem.dtype(), rows: 1}
	switch {
	case s.dtype == tensor.Invalid:
		return s, fmt.Errorf("holds %s; numbers were expected", h)
	case h.count == 0:
		return s, fmt.Errorf("holds %s: no values", h)
	case len(h.shape) == 0:
		s.cols = 1
	case len(h.shape) == 1:
		s.cols = h.shape[0]
	case len(h.shape) == 2:
		s.rows, s.cols = h.shape[0], h.shape[1]
	default:
		return s, fmt.Errorf("holds %s; rows and columns were expected", h)
	}
	if s.cols > maxCols || s.rows > maxRows {
		return s, fmt.Errorf("holds %s: more than %d columns or %d rows", h, maxCols, maxRows)
	}
	return s, nil
}

// frameShape reads the header of an entry.
func (a *archive) frameShape(name string) (stepShape, error) {
	h, err := a.header(name)
	if err != nil {
		return stepShape{}, err
	}
	return frameShape(h)
}

// keep remembers the first problem.
func (s *stepEntries) keep(e stepEntry, err error) {
	if s.err == nil {
		s.err = fmt.Errorf("entry %s: %w", quote(e.name), err)
	}
}

// chooseShape settles what the frames look like: as the metadata says where any
// entry agrees (0 means that it does not say), else as most entries are. In a
// sound file that takes one header.
func (a *archive) chooseShape(s *stepEntries, rows, cols int) {
	votes := map[stepShape]int{}
	for i, e := range s.list {
		shape, err := a.frameShape(e.name)
		if err != nil {
			s.keep(e, err)
			continue
		}
		if i == 0 && shape.rows == rows && shape.cols == cols {
			s.shape = shape
			return
		}
		votes[shape]++
	}
	best := -1
	for shape, n := range votes {
		score := n
		if shape.cols == cols {
			score += 2 * len(s.list)
		}
		if shape.rows == rows {
			score += len(s.list)
		}
		if score > best || score == best && shape.String() < s.shape.String() {
			best, s.shape = score, shape
		}
	}
}

// loadSteps decodes the frames, one after the other, into one array. Frames
// that differ or do not decode are left out, and said.
func (f *File) loadSteps(s *stepEntries) (tensor.Array, []int64, error) {
	if s.shape.dtype == tensor.Invalid {
		return tensor.Array{}, nil, f.noneUsable(s)
	}
	size := f.arc.room(s)
	if err := f.arc.budget.take(size); err != nil {
		err = fmt.Errorf("%d frames of %s %w", len(s.list), s.shape, err)
		return tensor.Array{}, nil, &FormatError{f.name, s.prefix + "*", err}
	}
	data := make([]byte, size)
	steps, used := f.decodeSteps(s, data)
	if len(steps) == 0 {
		f.arc.budget.give(size)
		return tensor.Array{}, nil, f.noneUsable(s)
	}
	return tensor.Array{
		DType: s.shape.dtype,
		Shape: []int{len(steps), s.shape.rows, s.shape.cols},
		Data:  data[:used:used],
	}, steps, nil
}

// room returns the bytes of all frames whose entries are long enough to be one.
func (a *archive) room(s *stepEntries) int64 {
	size := s.shape.bytes()
	var n int64
	for _, e := range s.list {
		if a.files[e.name].UncompressedSize64 > uint64(size) {
			n++
		}
	}
	if n > math.MaxInt64/size {
		return math.MaxInt64
	}
	return n * size
}

// decodeSteps fills data and returns the steps of the frames in it.
func (f *File) decodeSteps(s *stepEntries, data []byte) (steps []int64, used int) {
	size := int(s.shape.bytes())
	var bad problems
	for _, e := range s.list {
		err := f.arc.read(e.name, func(h arrayHeader) ([]byte, error) {
			shape, err := frameShape(h)
			if err == nil && shape != s.shape {
				err = fmt.Errorf("holds %s; %s was expected", shape, s.shape)
			}
			if err != nil {
				return nil, err
			}
			return data[used : used+size], nil
		})
		if err != nil {
			s.keep(e, err)
			bad.add(e.name, fmt.Errorf("%w; left out", err))
			continue
		}
		used += size
		steps = append(steps, e.step)
	}
	f.warn(bad.warnings()...)
	return steps, used
}

// noneUsable returns the error of a field none of whose entries is.
func (f *File) noneUsable(s *stepEntries) error {
	return &FormatError{f.name, s.prefix + "*", fmt.Errorf("none of %d entries is usable: %w", len(s.list), s.err)}
}
