package detect

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/dump"
)

// The classes of a trip on a value that is still finite.
const (
	ClassLimit  = "limit"  // above FieldOptions.Limit
	ClassGrowth = "growth" // above what FieldOptions.Growth allows
)

// Growth bounds how fast the largest absolute value of a field may grow: not
// beyond Factor times what it was Frames frames before, as long as it is above
// Floor, below which growth is of no interest. The zero value bounds nothing.
type Growth struct {
	Factor float64 // positive
	Frames int     // at least 2, fewer than Config.TraceLen
	Floor  float64
}

// checkLimits returns what is wrong with the limits.
func (o *FieldOptions) checkLimits(traceLen int) error {
	g := o.Growth
	switch {
	case !(o.Limit >= 0):
		return fmt.Errorf("limit %v, want a positive one, or 0 for none", o.Limit)
	case g == Growth{}:
		return nil
	case !(g.Factor > 0) || math.IsInf(g.Factor, 1) || !(g.Floor >= 0):
		return fmt.Errorf("growth by %v above %v, want positive numbers", g.Factor, g.Floor)
	case g.Frames < 2 || g.Frames >= traceLen:
		return fmt.Errorf("growth over %d frames, want 2 to %d", g.Frames, traceLen-1)
	}
	return nil
}

// brokenBy returns which bound a value is above: the limit goes first.
func (f *field) brokenBy(abs float64) string {
	if f.limit > 0 && abs > f.limit {
		return ClassLimit
	}
	return ClassGrowth
}

// isPrecursor reports whether a trip is on a value that is still finite.
func isPrecursor(t *dump.Trip) bool { return t.Class == ClassLimit || t.Class == ClassGrowth }

// precursorEvent tells a dump of a trip on a finite value, for which the dump
// format has no trip.
func (f *field) precursorEvent(t *dump.Trip) dump.Event {
	e := dump.Event{Tick: t.Tick, Kind: dump.EventWarning, Name: t.Field}
	where := fmt.Sprintf("column %d", t.Col)
	if t.Env != nil {
		where = fmt.Sprintf("env %d, %s", *t.Env, where)
		e.Envs = []int{*t.Env}
	}
	if t.Class == ClassLimit {
		e.Detail = fmt.Sprintf("precursor: %s of %s is above its limit of %g", t.Field, where, f.limit)
	} else {
		e.Detail = fmt.Sprintf("precursor: %s of %s is above %g and more than %g times what was largest %d frames before",
			t.Field, where, f.growth.Floor, f.growth.Factor, f.growth.Frames)
	}
	return e
}
