package dump

import (
	"io"
	"math"
	"os"
	"testing"

	"github.com/nanguard/nanguard/tensor"
)

// BenchmarkWriteFile is one field of 1,000 frames: mostly deflate.
func BenchmarkWriteFile(b *testing.B) {
	d := benchDraft(1000, 7, 120)
	b.SetBytes(int64(len(d.Fields[0].Frames.Values.Data)))
	dir := b.TempDir()
	for b.Loop() {
		path, err := WriteFile(dir, d)
		if err != nil {
			b.Fatal(err)
		}
		os.Remove(path)
	}
}

// BenchmarkPackStates is 1,000 small entries: mostly what an entry costs.
func BenchmarkPackStates(b *testing.B) {
	d := benchDraft(1, 7, 120)
	d.States = &StateDraft{Values: tensor.NewArray(tensor.Float64, 1000, 7, 37)}
	for i := range int64(1000) {
		d.States.Steps = append(d.States.Steps, i)
	}
	p, err := newPacker(d, d.manifest(), "")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := p.writeTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// benchDraft is one field of smooth motion with noise in its last bits.
func benchDraft(frames, rows, cols int) *Draft {
	v := fill(tensor.Float32, func(i int) uint64 {
		x := math.Sin(float64(i/cols)*0.01+float64(i%cols)) + 1e-4*math.Sin(float64(i*i))
		return uint64(math.Float32bits(float32(x)))
	}, frames, rows, cols)
	s := &Series{Values: v, Ticks: make([]int64, frames), Counts: make([]int64, frames)}
	ids, roles := make([]int, rows), make([]Role, rows)
	for i := range s.Ticks {
		s.Ticks[i] = int64(i)
	}
	for i := range ids {
		ids[i], roles[i] = i, RoleControl
	}
	return &Draft{
		Manifest: Manifest{
			NumEnvs: rows, EnvIDs: ids, EnvRoles: roles,
			Fields: []FieldSpec{{Name: "obs", Stage: StageObs, Clock: ClockStep, DType: "float32", PerEnv: true}},
		},
		Fields: []FieldDraft{{Name: "obs", Frames: s}},
		Meta:   MetaDraft{Timestamp: "20260102_030405"},
	}
}
