package rootcause

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// field is one watched array, or a part of the simulator's state vector, with
// everything that the rules ask of it more than once.
type field struct {
	dump.FieldSpec
	kind   kind
	pos    int      // place in the loop: by order, then by place in the manifest
	names  []string // one label per column from column from on
	frames *dump.Series
	trace  *dump.Trace
	rows   int
	width  int // columns of the array
	from   int // first column looked at
	to     int // one past the last
	cells  []cell
	limit  float64 // a finite value above it has run away
	base   float64 // size of a healthy value
	blank  float64 // size of what stands for nothing, see findBlank; 0 for none
	masked bool    // -inf stands for actions that are not allowed, see unmask
}

// newField reads the columns [from, to) of a field; to < 0 means all of them.
// It returns an error when frames are there and do not have three dimensions.
func newField(src Source, spec dump.FieldSpec, k kind, from, to int) (*field, error) {
	f := &field{FieldSpec: spec, kind: k, from: from, to: to}
	f.frames, _ = src.Frames(spec.Name)
	f.trace, _ = src.Trace(spec.Name)
	if f.frames == nil && f.trace == nil {
		return nil, nil
	}
	if f.frames != nil {
		if err := f.scan(); err != nil {
			return nil, err
		}
	}
	if all := src.Columns(spec.Name); f.from <= len(all) {
		f.names = all[f.from:]
	}
	f.measure()
	if v := f.findBlank(); v != 0 {
		f.leaveOut(v)
	}
	f.unmask()
	return f, nil
}

// scan summarises the frames.
func (f *field) scan() error {
	a := f.frames.Values
	if len(a.Shape) != 3 || a.Shape[0] != len(f.frames.Ticks) {
		return fmt.Errorf("field %s: shape %v does not match %d ticks", f.Name, a.Shape, len(f.frames.Ticks))
	}
	f.rows, f.width = a.Shape[1], a.Shape[2]
	if f.to < 0 || f.to > f.width {
		f.to = f.width
	}
	if f.from > f.to {
		return fmt.Errorf("field %s: no column %d in %d", f.Name, f.from, f.width)
	}
	f.cells = scanCells(a, f.rows, f.width, f.from, f.to)
	return nil
}

// tooLarge stands for what did not fit into half precision.
const tooLarge = 131008.0

// unround makes the infinities of a field that is stored in half precision what
// they are where the guard, which saw the values themselves, did not find any:
// numbers above 65504.
func (f *field) unround() {
	if f.frames == nil || f.frames.Values.DType != tensor.Float16 {
		return
	}
	defer f.measure()
	for i := range f.cells {
		c := &f.cells[i]
		if c.bad == 0 || c.class == tensor.NaN {
			continue
		}
		row := f.frames.Values.Data[(i*f.width+f.from)*2 : (i*f.width+f.to)*2]
		for col := range f.to - f.from {
			if tensor.Float16.Classify(tensor.Float16.Bits(row[2*col:])) == tensor.NaN {
				c.first, c.class = int32(col), tensor.NaN
				break
			}
		}
		if c.class != tensor.NaN {
			c.max, c.arg, c.bad = tooLarge, c.first, 0
		}
	}
}

// len returns the number of frames.
func (f *field) len() int {
	if f == nil || f.frames == nil || f.rows == 0 || f.to == f.from {
		return 0
	}
	return len(f.frames.Ticks)
}

// cell returns the summary of a row of a frame.
func (f *field) cell(i, row int) *cell { return &f.cells[i*f.rows+row] }

// at returns one value; col counts from the first column looked at.
func (f *field) at(i, row, col int) float64 {
	return f.frames.Values.Float64((i*f.rows+row)*f.width + f.from + col)
}

// column returns the label of a column, or one made from the index.
func (f *field) column(col int) string {
	if col < 0 {
		return ""
	}
	if col < len(f.names) && f.names[col] != "" {
		return f.names[col]
	}
	return fmt.Sprintf("%s[%d]", f.Name, f.from+col)
}

// env returns the env of a row, -1 when the field has one row for the run.
func (f *field) env(row int) int {
	if !f.PerEnv || f.frames == nil || row < 0 || row >= len(f.frames.EnvIDs) {
		return -1
	}
	return f.frames.EnvIDs[row]
}

// row returns the row of an env, -1 when its row is not in the file. A field
// of the whole run has row 0 for every env.
func (f *field) row(env int) int {
	if f == nil || f.frames == nil {
		return -1
	}
	if !f.PerEnv {
		return 0
	}
	if row := slices.Index(f.frames.EnvIDs, env); row < f.rows {
		return row
	}
	return -1
}

// upTo returns the last frame with a tick of at most t, -1 when there is none.
func (f *field) upTo(t int64) int {
	if f.len() == 0 {
		return -1
	}
	i, found := slices.BinarySearch(f.frames.Ticks, t)
	if found {
		for i+1 < len(f.frames.Ticks) && f.frames.Ticks[i+1] == t {
			i++
		}
		return i
	}
	return i - 1
}

// measure sets the size of a healthy value and the limit that follows from it.
// Healthy is the smallest of three views, since any of them may hold the
// failure: all rows of all frames, most of the trace, and the trace's start (a
// run that ran away early has little else that is healthy).
func (f *field) measure() {
	views := []float64{quiet(f.framePeaks(), f.rows >= 3)}
	if f.trace != nil {
		start := f.trace.AbsMax[:min(len(f.trace.AbsMax), max(5, len(f.trace.AbsMax)/20))]
		views = append(views, quiet(f.trace.AbsMax, false), quiet(start, true))
	}
	f.base = 0
	for _, v := range views {
		if v > 0 && (f.base == 0 || v < f.base) {
			f.base = v
		}
	}
	p := loop[f.kind]
	f.limit = math.Max(p.ratio*f.base, p.floor)
	if p.top > 0 {
		f.limit = math.Min(f.limit, p.top)
	}
	if f.kind == param { // weights are of the order of one in any healthy network
		f.limit = math.Max(p.ratio*math.Min(f.base, 1), p.floor)
	}
}

// framePeaks returns the largest absolute value of every row of every frame.
func (f *field) framePeaks() []float64 {
	v := make([]float64, 0, len(f.cells))
	for i := range f.cells {
		v = append(v, f.cells[i].max)
	}
	return v
}

// quiet returns the size of the quiet part of peaks: a low quantile of them, or
// the median where most of them are healthy, unless even that has run away. It
// returns 0 when there is nothing above zero.
func quiet(peaks []float64, mostly bool) float64 {
	v := positive(peaks)
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	low := v[0]
	if len(v) >= 10 {
		low = stat.Quantile(0.10, stat.Empirical, v, nil)
	}
	if !mostly {
		return low
	}
	return math.Max(low, math.Min(stat.Quantile(0.5, stat.Empirical, v, nil), 100*low))
}

// positive returns the finite values above zero in a slice of their own.
func positive(v []float64) []float64 {
	out := make([]float64, 0, len(v))
	for _, x := range v {
		if x > 0 && !math.IsInf(x, 1) {
			out = append(out, x)
		}
	}
	return out
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return tensor.ClassOf(v) == tensor.Finite }

// everyRow returns the indices of all rows of a frame.
func (f *field) everyRow() []int {
	rows := make([]int, f.rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// badRows counts the rows of a frame that are not fine.
func (f *field) badRows(i int) int {
	n := 0
	for row := range f.rows {
		if f.state(i, row) != "" {
			n++
		}
	}
	return n
}

// median returns the middle of the sizes of a row in the frames [lo, hi).
func (f *field) median(row, lo, hi int) float64 {
	var sizes []float64
	for i := lo; i < hi; i++ {
		sizes = append(sizes, f.cell(i, row).max)
	}
	return median(sizes)
}

// spread returns the standard deviation of a column over rows and frames.
func (f *field) spread(col, last int) float64 {
	var n, m, s float64
	for i := range min(last+1, f.len()) {
		for row := range f.rows {
			v := f.at(i, row, col)
			if !finite(v) {
				continue
			}
			n++
			d := v - m
			m += d / n
			s += d * (v - m)
		}
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(s / n)
}
