// Package recordtest makes recordings for tests from literals: a small dump
// whose every value is known, and hostile ones.
package recordtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Source is a dump in memory.
type Source struct {
	File   string
	M      dump.Manifest
	State  *dump.StateInfo
	Series map[string]*dump.Series
	Traces map[string]*dump.Trace
	Labels map[string][]string
	Doubts []error
}

// Name returns the path of the file that the source stands for.
func (s *Source) Name() string { return s.File }

// Format returns the format of nanguard's own dumps.
func (s *Source) Format() string { return "nanguard-1" }

// Manifest returns M.
func (s *Source) Manifest() *dump.Manifest { return &s.M }

// States returns State.
func (s *Source) States() *dump.StateInfo { return s.State }

// Warnings returns Doubts.
func (s *Source) Warnings() []error { return s.Doubts }

// Columns returns Labels of the field.
func (s *Source) Columns(field string) []string { return s.Labels[field] }

// Field returns the manifest's description of the field.
func (s *Source) Field(name string) (dump.FieldSpec, bool) {
	for _, f := range s.M.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return dump.FieldSpec{}, false
}

// Frames returns Series of the field.
func (s *Source) Frames(field string) (*dump.Series, error) {
	if f, ok := s.Series[field]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("frames of %s: %w", field, dump.ErrNoEntry)
}

// Trace returns Traces of the field.
func (s *Source) Trace(field string) (*dump.Trace, error) {
	if t, ok := s.Traces[field]; ok {
		return t, nil
	}
	return nil, fmt.Errorf("trace of %s: %w", field, dump.ErrNoEntry)
}

// Add adds a float64 field with the given frames: value(frame, row, col) for
// every tick, one row per env of the manifest, or one for the run when the
// field is not per env.
func (s *Source) Add(spec dump.FieldSpec, labels []string, ticks []int64, value func(frame, row, col int) float64) {
	f := &dump.Series{Ticks: ticks, Values: tensor.Array{DType: tensor.Float64}}
	rows := 1
	if spec.PerEnv {
		f.EnvIDs = s.M.EnvIDs
		rows = len(f.EnvIDs)
	}
	f.Values.Shape = []int{len(ticks), rows, len(labels)}
	for i := range ticks {
		f.Counts = append(f.Counts, int64(i+1))
		for row := range rows {
			for col := range labels {
				f.Values.Data = binary.LittleEndian.AppendUint64(f.Values.Data, math.Float64bits(value(i, row, col)))
			}
		}
	}
	if s.Series == nil {
		s.Series, s.Labels = map[string]*dump.Series{}, map[string][]string{}
	}
	s.M.Fields = append(s.M.Fields, spec)
	s.Series[spec.Name], s.Labels[spec.Name] = f, slices.Clone(labels)
}
