package recording

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// traceColumns are the labels of a trace's columns.
var traceColumns = []string{"nan", "posinf", "neginf", "absmax", "argmax env", "min", "max", "mean"}

// absMaxColumn is the column of a trace that holds the largest magnitude.
const absMaxColumn = 3

// newTraceTrack lays a trace out as a track of one row. A frame is bad where
// the trace counted elements that are not finite.
func newTraceTrack(tr *dump.Trace) (*Track, error) {
	columns := [][]float64{tr.NaN, tr.PosInf, tr.NegInf, tr.AbsMax, tr.ArgMax, tr.Min, tr.Max, tr.Mean}
	for _, c := range columns {
		if len(c) != len(tr.Ticks) {
			return nil, errors.New("the columns of the trace differ in length")
		}
	}
	a := tensor.Array{DType: tensor.Float64, Shape: []int{len(tr.Ticks), 1, len(columns)}}
	for i := range tr.Ticks {
		for _, c := range columns {
			a.Data = binary.LittleEndian.AppendUint64(a.Data, math.Float64bits(c[i]))
		}
	}
	t, err := newTrack(&dump.Series{Ticks: tr.Ticks, Counts: tr.Counts, Values: a})
	if err != nil {
		return nil, err
	}
	for i := range t.health {
		t.health[i] = t.traceHealth(i)
	}
	t.findOnsets()
	return t, nil
}

// traceHealth reads the counts of frame i.
func (t *Track) traceHealth(i int) (h Health) {
	for c, bit := range []Health{HasNaN, HasPosInf, HasNegInf} {
		if t.Value(i, 0, c) > 0 {
			h |= bit
		}
	}
	if t.Value(i, 0, absMaxColumn) >= Huge {
		h |= HasHuge
	}
	return h
}
