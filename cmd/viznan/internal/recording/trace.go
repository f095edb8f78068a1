package recording

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// traceColumn is one column of a trace.
type traceColumn struct {
	label  string
	values []float64
}

// absMaxColumn is the column of a trace that holds the largest magnitude.
const absMaxColumn = 3

// traceColumns lays out the columns of a trace. A field of the whole run has no
// env in which its largest value could stand.
func traceColumns(tr *dump.Trace, perEnv bool) []traceColumn {
	list := []traceColumn{{"nan", tr.NaN}, {"posinf", tr.PosInf}, {"neginf", tr.NegInf}, {"absmax", tr.AbsMax}}
	if perEnv {
		list = append(list, traceColumn{"argmax env", tr.ArgMax})
	}
	return append(list, traceColumn{"min", tr.Min}, traceColumn{"max", tr.Max}, traceColumn{"mean", tr.Mean})
}

// newTraceTrack lays a trace out as a track of one row. A frame is bad where
// the trace counted elements that are not finite.
func newTraceTrack(tr *dump.Trace, perEnv bool) (*Track, error) {
	columns := traceColumns(tr, perEnv)
	var labels []string
	for _, c := range columns {
		if len(c.values) != len(tr.Ticks) {
			return nil, errors.New("the columns of the trace differ in length")
		}
		labels = append(labels, c.label)
	}
	a := tensor.Array{DType: tensor.Float64, Shape: []int{len(tr.Ticks), 1, len(columns)}}
	for i := range tr.Ticks {
		for _, c := range columns {
			a.Data = binary.LittleEndian.AppendUint64(a.Data, math.Float64bits(c.values[i]))
		}
	}
	t, err := newTrack(&dump.Series{Ticks: tr.Ticks, Counts: tr.Counts, Values: a})
	if err != nil {
		return nil, err
	}
	t.labels = labels
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
