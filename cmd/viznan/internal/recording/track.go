package recording

import (
	"fmt"
	"slices"
	"sort"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Track is one array over time: the frames of a field, or its trace. Frames
// are counted from 0 in tick order.
type Track struct {
	ticks, counts []int64
	envIDs        []int // nil when there is one row for the whole run
	rows, cols    int
	values        tensor.Array
	health        []Health // frame by frame, row by row
	onset, huge   []int    // per row: the first bad frame and the first huge one, or -1
	labels        []string // of the columns of a trace, nil for frames
}

// newTrack checks the shape of a series and looks at every value once.
func newTrack(s *dump.Series) (*Track, error) {
	v := s.Values
	if len(v.Shape) != 3 || v.Shape[0] != len(s.Ticks) || len(s.Counts) != len(s.Ticks) ||
		s.EnvIDs != nil && len(s.EnvIDs) != v.Shape[1] || len(v.Data) < v.Len()*v.DType.Size() {
		return nil, fmt.Errorf("shape %v does not fit %d ticks and %d rows", v.Shape, len(s.Ticks), len(s.EnvIDs))
	}
	t := &Track{
		ticks: s.Ticks, counts: s.Counts, envIDs: s.EnvIDs,
		rows: v.Shape[1], cols: v.Shape[2], values: v,
	}
	t.sort()
	t.health = examine(t.values, len(t.ticks)*t.rows, t.cols)
	t.findOnsets()
	return t, nil
}

// sort puts the frames of a damaged file, whose ticks go backwards, in order.
func (t *Track) sort() {
	if slices.IsSorted(t.ticks) {
		return
	}
	order := make([]int, len(t.ticks))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return t.ticks[order[a]] < t.ticks[order[b]] })
	sorted := Track{values: tensor.Array{DType: t.values.DType, Shape: t.values.Shape}}
	for _, i := range order {
		sorted.ticks = append(sorted.ticks, t.ticks[i])
		sorted.counts = append(sorted.counts, t.counts[i])
		sorted.values.Data = append(sorted.values.Data, t.values.Frame(i).Data...)
	}
	t.ticks, t.counts, t.values = sorted.ticks, sorted.counts, sorted.values
}

// findOnsets notes the first bad frame of each row, and the first huge one.
func (t *Track) findOnsets() {
	t.onset, t.huge = make([]int, t.rows), make([]int, t.rows)
	for r := range t.rows {
		t.onset[r] = t.first(r, Health.Bad)
		t.huge[r] = t.first(r, func(h Health) bool { return h&HasHuge != 0 })
	}
}

// first returns the first frame of a row whose health is as asked, or -1.
func (t *Track) first(row int, is func(Health) bool) int {
	for i := range t.ticks {
		if is(t.Health(i, row)) {
			return i
		}
	}
	return -1
}

// Len returns the number of frames.
func (t *Track) Len() int { return len(t.ticks) }

// Cols returns the number of columns.
func (t *Track) Cols() int { return t.cols }

// Tick returns the tick of frame i.
func (t *Track) Tick(i int) int64 { return t.ticks[i] }

// Count returns what the field's clock stood at in frame i.
func (t *Track) Count(i int) int64 { return t.counts[i] }

// IsFloat reports whether values can be non-finite; integers and truth values
// are shown as whole numbers.
func (t *Track) IsFloat() bool { return t.values.DType.IsFloat() }

// At returns the frame that stands at the given tick: the last one up to it.
// ok is false before the first frame.
func (t *Track) At(tick int64) (frame int, ok bool) {
	n := sort.Search(len(t.ticks), func(i int) bool { return t.ticks[i] > tick })
	return n - 1, n > 0
}

// Row returns the row of an env: row 0 for every env when there is one row for
// the run. ok is false when the env is not recorded.
func (t *Track) Row(env int) (row int, ok bool) {
	if t.envIDs == nil {
		return 0, t.rows > 0
	}
	row = slices.Index(t.envIDs, env)
	return row, row >= 0
}

// PerEnv reports whether rows are envs.
func (t *Track) PerEnv() bool { return t.envIDs != nil }

// Health returns the health of one row of frame i.
func (t *Track) Health(i, row int) Health { return t.health[i*t.rows+row] }

// Onset returns the first bad frame of a row.
func (t *Track) Onset(row int) (frame int, ok bool) { return t.onset[row], t.onset[row] >= 0 }

// Value returns one value.
func (t *Track) Value(i, row, col int) float64 {
	return t.values.Float64((i*t.rows+row)*t.cols + col)
}

// Values returns one row of frame i.
func (t *Track) Values(i, row int) []float64 {
	from := (i*t.rows + row) * t.cols
	return t.values.AppendFloat64s(make([]float64, 0, t.cols), from, from+t.cols)
}

// History returns one column of a row in frames [from, to).
func (t *Track) History(row, col, from, to int) []float64 {
	h := make([]float64, 0, to-from)
	for i := from; i < to; i++ {
		h = append(h, t.Value(i, row, col))
	}
	return h
}

// Tally counts the values of one row of frame i.
func (t *Track) Tally(i, row int) Tally { return tally(t.Values(i, row)) }

// ColumnOnset returns the first frame in which a column is bad.
func (t *Track) ColumnOnset(row, col int) (frame int, ok bool) {
	first, ok := t.Onset(row)
	if !ok {
		return 0, false
	}
	for i := first; i < t.Len(); i++ {
		if t.Health(i, row).Bad() && healthOf(t.Value(i, row, col)).Bad() {
			return i, true
		}
	}
	return 0, false
}

// Step returns the tick n frames after the given one, or before it when n is
// negative, held at the ends.
func (t *Track) Step(tick int64, n int) int64 { return step(t.ticks, tick, n) }
