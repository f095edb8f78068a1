package detect

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// states returns the simulator's state before each substep that began, from the
// frames of qpos, qvel and, when it is bound, act: a frame with count N was taken
// after substep N, so it is what substep N+1 began with. Of two frames with one
// count the later is meant: it was taken after a reset. It returns nil when qpos
// or qvel is missing.
func states(d *dump.Draft, spec int) *dump.StateDraft {
	parts := stateParts(d)
	if parts == nil {
		return nil
	}
	var clock dump.Clock
	size := 0
	for _, f := range d.Manifest.Fields {
		if f.Name == "qpos" {
			clock = f.Clock
		}
	}
	for _, p := range parts {
		size += p.Values.Shape[2]
	}
	steps := commonCounts(parts, d.Manifest.Clocks[clock])
	if len(steps) == 0 {
		return nil
	}
	rows := len(d.Manifest.EnvIDs)
	s := &dump.StateDraft{Spec: spec, Steps: steps, Values: tensor.NewArray(tensor.Float64, len(steps), rows, size)}
	out := s.Values.Data[:0]
	for _, step := range steps {
		for row := range rows {
			for _, p := range parts {
				out = appendRow(out, p.Values.Frame(lastWith(p.Counts, step)).Frame(row))
			}
		}
	}
	return s
}

// stateParts returns the frames that make up a state, nil when they do not.
func stateParts(d *dump.Draft) []*dump.Series {
	var parts []*dump.Series
	for _, name := range []string{"qpos", "qvel", "act"} {
		spec := slices.IndexFunc(d.Manifest.Fields, func(f dump.FieldSpec) bool { return f.Name == name && f.PerEnv })
		frames := slices.IndexFunc(d.Fields, func(f dump.FieldDraft) bool { return f.Name == name })
		switch {
		case spec >= 0 && frames >= 0:
			parts = append(parts, d.Fields[frames].Frames)
		case name != "act":
			return nil
		}
	}
	return parts
}

// commonCounts returns the counts below limit for which every part has a frame,
// ascending.
func commonCounts(parts []*dump.Series, limit int64) []int64 {
	var counts []int64
	for _, n := range slices.Compact(slices.Clone(parts[0].Counts)) {
		everywhere := n < limit
		for _, p := range parts[1:] {
			everywhere = everywhere && lastWith(p.Counts, n) >= 0
		}
		if everywhere {
			counts = append(counts, n)
		}
	}
	return counts
}

// lastWith returns the index of the last frame with a count, -1 when there is
// none. Counts never descend.
func lastWith(counts []int64, count int64) int {
	after, _ := slices.BinarySearch(counts, count+1)
	if after == 0 || counts[after-1] != count {
		return -1
	}
	return after - 1
}

// appendRow appends a row as float64.
func appendRow(dst []byte, row tensor.Array) []byte {
	for i := range row.Len() {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(row.Float64(i)))
	}
	return dst
}
