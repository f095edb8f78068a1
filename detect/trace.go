package detect

import (
	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/dump"
)

// trace keeps the summaries of the last checks of one field.
type trace struct {
	rows []traceRow
	next int
	n    int
}

// traceRow is the summary of one check.
type traceRow struct {
	tick, count           int64
	nan, posInf, negInf   int64
	argMax                int
	absMax, min, max, avg float64
}

// push keeps a summary, over the oldest when the trace is full.
func (t *trace) push(tick, count int64, s *scan.Summary) {
	t.rows[t.next] = traceRow{
		tick: tick, count: count, nan: s.NaN, posInf: s.PosInf, negInf: s.NegInf,
		argMax: s.ArgMax, absMax: s.AbsMax, min: s.Min, max: s.Max, avg: s.Mean,
	}
	t.next = (t.next + 1) % len(t.rows)
	t.n = min(t.n+1, len(t.rows))
}

// back returns the summary of the k-th check before the next; there must be so
// many.
func (t *trace) back(k int) *traceRow { return &t.rows[(t.next-k+len(t.rows))%len(t.rows)] }

// draft returns the trace as a dump holds it, oldest first.
func (t *trace) draft() *dump.Trace {
	d := &dump.Trace{}
	for i := range t.n {
		r := &t.rows[(t.next-t.n+i+len(t.rows))%len(t.rows)]
		d.Ticks = append(d.Ticks, r.tick)
		d.Counts = append(d.Counts, r.count)
		d.NaN = append(d.NaN, float64(r.nan))
		d.PosInf = append(d.PosInf, float64(r.posInf))
		d.NegInf = append(d.NegInf, float64(r.negInf))
		d.AbsMax = append(d.AbsMax, r.absMax)
		d.ArgMax = append(d.ArgMax, float64(r.argMax))
		d.Min = append(d.Min, r.min)
		d.Max = append(d.Max, r.max)
		d.Mean = append(d.Mean, r.avg)
	}
	return d
}
