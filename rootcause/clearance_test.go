package rootcause

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
	"github.com/nanguard/nanguard/tensor"
)

// oneFrame is a field of one env with one frame.
func oneFrame(k kind, values ...float64) *field {
	a := tensor.NewArray(tensor.Float64, 1, 1, len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint64(a.Data[8*i:], math.Float64bits(v))
	}
	f := &field{kind: k, frames: &dump.Series{Ticks: []int64{5}, Values: a}, to: -1}
	if err := f.scan(); err != nil {
		panic(err)
	}
	return f
}

// TestClearance: how far a leg hangs above the floor, and models in which that
// says nothing.
func TestClearance(t *testing.T) {
	hanging := func() *mjb.Model {
		m := leg()
		m.Bodies[1].Pos = [3]float64{0, 0, 1}
		m.Geoms = append(m.Geoms, mjb.Geom{Name: "foot", Body: 1, Type: 2, ConType: 1, Pos: [3]float64{0, 0, -.4}, Size: [3]float64{.05}})
		return m
	}
	at := func(m *mjb.Model, angle float64) (float64, bool) {
		return (&Case{model: m}).clearance(oneFrame(qpos, angle), 0, 0)
	}
	m, ok := at(hanging(), 0)
	assert.True(t, ok)
	assert.InDelta(t, 0.55, m, 1e-9)
	m, _ = at(hanging(), math.Pi/2)
	assert.InDelta(t, 0.95, m, 1e-9, "stretched out")
	_, ok = at(hanging(), nan)
	assert.False(t, ok)
	_, ok = at(nil, 0)
	assert.False(t, ok)

	for name, bend := range map[string]func(*mjb.Model){
		"a box to touch": func(m *mjb.Model) { m.Geoms[0].Type = 6 },
		"a slope":        func(m *mjb.Model) { m.Geoms[0].Quat = [4]float64{.99, .14} },
		"no ground":      func(m *mjb.Model) { m.Geoms = m.Geoms[1:] },
		"another body": func(m *mjb.Model) {
			m.Bodies = append(m.Bodies, mjb.Body{Name: "ball", Quat: [4]float64{1}})
			m.Geoms = append(m.Geoms, mjb.Geom{Name: "ball", Body: 2, Type: 2, ConType: 1, ConAff: 1})
		},
	} {
		m := hanging()
		bend(m)
		_, ok := at(m, 0)
		assert.False(t, ok, name)
	}
}

// TestKinetic: a leg of 0.2 kg m^2 at 2 rad/s has 0.4 J.
func TestKinetic(t *testing.T) {
	c := &Case{model: leg()}
	assert.InDelta(t, 0.4, c.kinetic(oneFrame(qvel, 2), 0, 0), 1e-12)
	assert.Zero(t, c.kinetic(oneFrame(qvel, 2, 3), 0, 0), "another model's")
	assert.Zero(t, (&Case{}).kinetic(oneFrame(qvel, 2), 0, 0))
}

// TestAccelerates: the third law of growth.
func TestAccelerates(t *testing.T) {
	curve := func(f func(x float64) float64) []float64 {
		y := make([]float64, 12)
		for i := range y {
			y[i] = f(float64(i))
		}
		return y
	}
	assert.True(t, accelerates(curve(func(x float64) float64 { return x * x })))
	assert.False(t, accelerates(curve(func(x float64) float64 { return 3 * x })), "exponential")
	assert.False(t, accelerates(curve(func(x float64) float64 { return math.Log(1 + x) })), "linear")
	assert.False(t, accelerates([]float64{0, 1, 4, 9}), "too short")
}
