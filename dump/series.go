package dump

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nanguard/nanguard/tensor"
)

// loadField reads the frames of a field of the manifest.
func (f *File) loadField(spec FieldSpec) (*Series, error) {
	entry := "field." + spec.Name
	s, err := f.readField(entry, spec)
	if err != nil {
		return nil, &FormatError{f.name, entry, err}
	}
	if n := s.Values.Shape[2]; len(spec.Cols) > 0 && len(spec.Cols) != n {
		f.warn(fmt.Errorf("entry %s: %d labels for %d columns; the columns are numbered", quote(entry), len(spec.Cols), n))
	}
	if d, err := tensor.ParseDType(spec.DType); err == nil && d != s.Values.DType {
		f.warn(fmt.Errorf("entry %s: holds %s, the manifest says %s", quote(entry), s.Values.DType, quote(spec.DType)))
	}
	if !ascend(s.Ticks) {
		f.warn(fmt.Errorf("entry %s: the ticks do not ascend; the frames are put in order", quote(entry+".tick")))
		if err := f.sortFrames(s); err != nil {
			return nil, &FormatError{f.name, entry, err}
		}
	}
	return s, nil
}

// readField reads a field's entry with its ticks and counts, and holds them
// against each other.
func (f *File) readField(entry string, spec FieldSpec) (*Series, error) {
	if !f.arc.has(entry) {
		return nil, ErrNoEntry
	}
	ticks, counts, err := f.arc.clocks(entry)
	if err != nil {
		return nil, err
	}
	values, err := f.arc.array(entry)
	if err != nil {
		return nil, err
	}
	if spec.DType == tensor.BFloat16.String() && values.DType == tensor.Uint16 {
		values.DType = tensor.BFloat16
	}
	s := &Series{Ticks: ticks, Counts: counts, Values: values}
	if s.Values.Shape, err = cubeShape(values.Shape, spec.PerEnv); err == nil {
		err = f.fitRows(s, spec.PerEnv)
	}
	if err == nil && len(ticks) != s.Values.Shape[0] {
		err = fmt.Errorf("holds %d frames and %d ticks", s.Values.Shape[0], len(ticks))
	}
	if err != nil {
		f.arc.budget.give(int64(len(values.Data)))
		return nil, err
	}
	return s, nil
}

// clocks reads the ticks and counts that go with an entry.
func (a *archive) clocks(entry string) (ticks, counts []int64, err error) {
	if err := a.timed(entry); err != nil {
		return nil, nil, err
	}
	if ticks, err = a.ints(entry + ".tick"); err != nil {
		return nil, nil, fmt.Errorf("its entry %s %w", quote(entry+".tick"), err)
	}
	if counts, err = a.ints(entry + ".count"); err != nil {
		return nil, nil, fmt.Errorf("its entry %s %w", quote(entry+".count"), err)
	}
	switch {
	case len(ticks) != len(counts):
		return nil, nil, fmt.Errorf("has %d ticks and %d counts", len(ticks), len(counts))
	case len(ticks) > maxFrames:
		return nil, nil, fmt.Errorf("has %d ticks over limit %d", len(ticks), maxFrames)
	}
	return ticks, counts, nil
}

// timed reports whether an entry has those that say when its frames are from.
func (a *archive) timed(entry string) error {
	for _, clock := range []string{entry + ".tick", entry + ".count"} {
		if !a.has(clock) {
			return fmt.Errorf("its entry %s is missing, so that nobody knows when its frames are from", quote(clock))
		}
	}
	return nil
}

// cubeShape returns a shape as frames, rows and columns. A field with one column
// may have no axis for it.
func cubeShape(s []int, perEnv bool) ([]int, error) {
	given := s
	switch {
	case perEnv && len(s) == 2:
		s = []int{s[0], s[1], 1}
	case !perEnv && len(s) == 1:
		s = []int{s[0], 1, 1}
	case !perEnv && len(s) == 2:
		s = []int{s[0], 1, s[1]}
	case len(s) != 3:
		return nil, fmt.Errorf("has shape %s; frames, rows and columns were expected", shapeText(s))
	}
	switch {
	case slices.Contains(s, 0):
		return nil, ErrNoEntry
	case s[0] > maxFrames || s[1] > maxRows || s[2] > maxCols:
		return nil, fmt.Errorf("has shape %s: more than %d frames, %d rows or %d columns", shapeText(given), maxFrames, maxRows, maxCols)
	}
	return s, nil
}

// fitRows holds the rows of a series against the list of envs.
func (f *File) fitRows(s *Series, perEnv bool) error {
	rows := s.Values.Shape[1]
	switch {
	case !perEnv && rows != 1:
		return fmt.Errorf("has %d rows; a field of the whole run has 1", rows)
	case !perEnv:
		return nil
	case len(f.manifest.EnvIDs) == 0:
		s.EnvIDs = rowIDs(nil, rows)
	case rows != len(f.manifest.EnvIDs):
		return fmt.Errorf("has %d rows for %d envs", rows, len(f.manifest.EnvIDs))
	default:
		s.EnvIDs = f.manifest.EnvIDs
	}
	return nil
}

// rowIDs returns the envs of so many rows. Where the list of ids is too short
// the file does not say which env a row is; it gets a number below zero that no
// other row has.
func rowIDs(ids []int, rows int) []int {
	out := make([]int, rows)
	for i := range out {
		out[i] = -1 - i
	}
	copy(out, ids)
	return out
}

// ascend reports whether every tick is later than the one before.
func ascend(ticks []int64) bool {
	for i := 1; i < len(ticks); i++ {
		if ticks[i] <= ticks[i-1] {
			return false
		}
	}
	return true
}

// tickOrder returns the indices of the ticks in ascending order of ticks.
func tickOrder(ticks []int64) []int {
	order := make([]int, len(ticks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ticks[i], ticks[j]) })
	return order
}

// sortFrames puts the frames in order on the account of the file.
func (f *File) sortFrames(s *Series) error {
	cost := sortCost * int64(len(s.Ticks))
	if err := f.arc.budget.take(cost); err != nil {
		f.arc.budget.give(int64(len(s.Values.Data)))
		return err
	}
	s.sort()
	f.arc.budget.give(cost)
	return nil
}

// sort puts the frames into the order of their ticks. The values move within
// their memory, once around each cycle of the permutation.
func (s *Series) sort() {
	order := tickOrder(s.Ticks)
	s.Ticks, s.Counts = permuted(s.Ticks, order), permuted(s.Counts, order)
	size := len(s.Values.Data) / len(order)
	frame := func(i int) []byte { return s.Values.Data[i*size : (i+1)*size] }
	hold := make([]byte, size)
	done := make([]bool, len(order))
	for start := range order {
		if done[start] {
			continue
		}
		copy(hold, frame(start))
		to := start
		for ; order[to] != start; to = order[to] {
			copy(frame(to), frame(order[to]))
			done[to] = true
		}
		copy(frame(to), hold)
		done[to] = true
	}
}

// permuted returns the values in another order.
func permuted(v []int64, order []int) []int64 {
	out := make([]int64, len(order))
	for i, from := range order {
		out[i] = v[from]
	}
	return out
}

// loadTrace reads the summary of a field.
func (f *File) loadTrace(field string) (*Trace, error) {
	entry := "trace." + field
	if !f.arc.has(entry) {
		return nil, &FormatError{f.name, entry, ErrNoEntry}
	}
	t, err := f.readTrace(entry)
	if err != nil {
		return nil, &FormatError{f.name, entry, err}
	}
	return t, nil
}

// readTrace reads the table of a trace and turns it into columns.
func (f *File) readTrace(entry string) (*Trace, error) {
	ticks, counts, err := f.arc.clocks(entry)
	if err != nil {
		return nil, err
	}
	table, err := f.arc.array(entry)
	if err != nil {
		return nil, err
	}
	cost := sortCost * int64(len(ticks))
	if err := f.arc.budget.take(cost); err != nil {
		return nil, err
	}
	defer f.arc.budget.give(int64(len(table.Data)) + cost)
	t := &Trace{}
	columns := []*[]float64{&t.NaN, &t.PosInf, &t.NegInf, &t.AbsMax, &t.ArgMax, &t.Min, &t.Max, &t.Mean}
	if len(table.Shape) != 2 || table.Shape[0] != len(ticks) || table.Shape[1] != len(columns) {
		return nil, fmt.Errorf("has shape %s; (%d, %d) was expected", shapeText(table.Shape), len(ticks), len(columns))
	}
	if err := f.arc.budget.take(8 * int64(table.Len())); err != nil {
		return nil, err
	}
	if !ascend(ticks) {
		f.warn(fmt.Errorf("entry %s: the ticks do not ascend; the checks are put in order", quote(entry+".tick")))
	}
	order := tickOrder(ticks)
	t.Ticks, t.Counts = permuted(ticks, order), permuted(counts, order)
	for c, dst := range columns {
		*dst = make([]float64, len(order))
		for i, from := range order {
			(*dst)[i] = table.Float64(from*len(columns) + c)
		}
	}
	return t, nil
}
