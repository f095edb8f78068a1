package ui

import (
	"cmp"
	"math"
	"slices"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
)

// sortOrder is the order of the columns of a frame.
type sortOrder uint8

// The orders: as in the array, the largest magnitude first (what is not finite
// before all), or in the order in which they went bad.
const (
	sortLoop sortOrder = iota
	sortSize
	sortBad
	sortOrders
)

// String names the order.
func (o sortOrder) String() string {
	return [...]string{"loop order", "by |value|", "bad first"}[o%sortOrders]
}

// columnFaults remembers, for one row of a track, the first frame in which
// each column was bad or huge, -1 for never.
type columnFaults struct {
	track *recording.Track
	row   int
	first []int
}

// faultsOf returns the first faulty frame of every column of a view.
func (s *scene) faultsOf(v view) []int {
	if s.seen.track == v.track && s.seen.row == v.row {
		return s.seen.first
	}
	first := make([]int, v.track.Cols())
	for c := range first {
		first[c] = -1
	}
	for i := range v.track.Len() {
		if v.track.Health(i, v.row) == 0 {
			continue
		}
		for c, value := range v.track.Values(i, v.row) {
			if first[c] < 0 && !(math.Abs(value) < recording.Huge) {
				first[c] = i
			}
		}
	}
	s.seen = columnFaults{v.track, v.row, first}
	return first
}

// columns returns the columns of a view that pass filter and faults, sorted.
func (p *valuePane) columns(v view) []int {
	var list []int
	faults := p.faultsOf(v)
	for c := range v.track.Cols() {
		if matches(p.field().Label(c, v.trace), p.filter) && (!p.faults || faults[c] >= 0) {
			list = append(list, c)
		}
	}
	switch p.sort {
	case sortSize:
		values := v.track.Values(v.frame, v.row)
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(size(values[b]), size(values[a])) })
	case sortBad:
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(uint(faults[a]), uint(faults[b])) }) // -1 is last
	}
	return list
}

// size orders values by magnitude, NaN before all.
func size(v float64) float64 {
	if v != v {
		return math.Inf(1)
	}
	return math.Abs(v)
}
