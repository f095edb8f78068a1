package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/safetext"
	"github.com/nanguard/nanguard/tensor"
)

// table is the frames of one field with the names of its columns, cut down to
// the frames and rows that were asked for.
type table struct {
	file, field string
	clock       dump.Clock
	columns     []string
	frames      []int // indices into the series
	rows        []int // indices into its rows
	*dump.Series
}

// newTable reads a field.
func newTable(f *dump.File, field string) (*table, error) {
	spec, ok := f.Field(field)
	if !ok {
		return nil, fmt.Errorf("export %q: it holds no field %q; it holds %s", f.Name(), field, fieldNames(f))
	}
	s, err := f.Frames(field)
	if err != nil {
		return nil, err
	}
	t := &table{file: f.Name(), field: field, clock: spec.Clock, columns: f.Columns(field), Series: s}
	for i := range s.Ticks {
		t.frames = append(t.frames, i)
	}
	for i := range s.Values.Shape[1] {
		t.rows = append(t.rows, i)
	}
	return t, nil
}

// fieldNames lists the fields of a dump.
func fieldNames(f *dump.File) string {
	var names []string
	if f.States() != nil {
		names = append(names, dump.StateField)
	}
	for _, s := range f.Manifest().Fields {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// keepEnv cuts the table down to one env of the run.
func (t *table) keepEnv(env int) error {
	if t.EnvIDs == nil {
		return fmt.Errorf("export %q: field %s has one row for the whole run, not one per env", t.file, t.field)
	}
	i := slices.Index(t.EnvIDs, env)
	if i < 0 {
		return fmt.Errorf("export %q: env %d is not in the file, which holds envs %v", t.file, env, t.EnvIDs)
	}
	t.rows = []int{i}
	return nil
}

// keepStep cuts the table down to the frames with one count.
func (t *table) keepStep(step int64) error {
	if len(t.Counts) == 0 {
		return fmt.Errorf("export %q: field %s has no frames", t.file, t.field)
	}
	t.frames = slices.DeleteFunc(t.frames, func(i int) bool { return t.Counts[i] != step })
	if len(t.frames) == 0 {
		return fmt.Errorf("export %q: field %s has no frame with %s %d; it has %d to %d",
			t.file, t.field, t.clock, step, t.Counts[0], t.Counts[len(t.Counts)-1])
	}
	return nil
}

// envs returns the envs of the rows that are kept, none for a field of the
// whole run.
func (t *table) envs() []int {
	ids := []int{}
	if t.EnvIDs != nil {
		for _, r := range t.rows {
			ids = append(ids, t.EnvIDs[r])
		}
	}
	return ids
}

// pick returns the elements of s at the kept frames.
func (t *table) pick(s []int64) []int64 {
	kept := make([]int64, 0, len(t.frames))
	for _, i := range t.frames {
		kept = append(kept, s[i])
	}
	return kept
}

// row returns the values of one row of one frame.
func (t *table) row(frame, row int) []float64 {
	rows, cols := t.Values.Shape[1], t.Values.Shape[2]
	from := (frame*rows + row) * cols
	return t.Values.AppendFloat64s(make([]float64, 0, cols), from, from+cols)
}

// kept returns the kept frames and rows as one array, T x rows x cols, or
// T x cols for a field of the whole run, as the dump format stores it.
func (t *table) kept() tensor.Array {
	rows, cols := t.Values.Shape[1], t.Values.Shape[2]
	a := tensor.Array{DType: t.Values.DType, Shape: []int{len(t.frames), len(t.rows), cols}}
	if t.EnvIDs == nil {
		a.Shape = []int{len(t.frames), cols}
	}
	n := cols * t.Values.DType.Size()
	for _, f := range t.frames {
		for _, r := range t.rows {
			from := (f*rows + r) * n
			a.Data = append(a.Data, t.Values.Data[from:from+n]...)
		}
	}
	return a
}

// writeCSV writes one line per frame and row.
func writeCSV(w io.Writer, t *table) error {
	c := csv.NewWriter(w)
	head := []string{"tick", "count", "env"}
	for _, name := range t.columns {
		head = append(head, safetext.Line(name))
	}
	if err := c.Write(head); err != nil {
		return err
	}
	for _, f := range t.frames {
		for _, r := range t.rows {
			if err := c.Write(t.record(f, r)); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// record returns one line of the CSV.
func (t *table) record(frame, row int) []string {
	env := ""
	if t.EnvIDs != nil {
		env = strconv.Itoa(t.EnvIDs[row])
	}
	rec := []string{strconv.FormatInt(t.Ticks[frame], 10), strconv.FormatInt(t.Counts[frame], 10), env}
	for _, v := range t.row(frame, row) {
		rec = append(rec, t.number(v))
	}
	return rec
}

// number spells a value so that it reads back as the same one in the field's own
// type.
func (t *table) number(v float64) string { return number(v, t.Values.DType) }

// number spells a value of the given type.
func number(v float64, d tensor.DType) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	bits := 64
	if d.IsFloat() && d.Size() < 8 {
		bits = 32 // which float16 and bfloat16 widen to without loss
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// writeNPY writes the kept values in their own type; bfloat16, which numpy
// lacks, as its raw bits.
func writeNPY(w io.Writer, t *table) error { return dump.WriteNPY(w, t.kept()) }
