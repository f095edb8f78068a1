package measure

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/nanguard/nanguard/tensor"
)

// Field is an array of a task with one row per env, of float32.
type Field struct {
	Name string // of the dump format
	Cols int
}

// Humanoid are the 14 fields of a task with 29 degrees of freedom.
var Humanoid = []Field{
	{"qpos", 36},
	{"qvel", 35},
	{"qacc", 35},
	{"qacc_warmstart", 35},
	{"sensordata", 60},
	{"ctrl", 29},
	{"obs.policy", 99},
	{"obs.critic", 120},
	{"reward", 1},
	{"reward.terms", 16},
	{"log_prob", 1},
	{"policy.mean", 29},
	{"policy.std", 29},
	{"value", 1},
}

// HumanoidBytes returns the bytes of all fields at a number of envs.
func HumanoidBytes(envs int) int {
	n := 0
	for _, f := range Humanoid {
		n += 4 * envs * f.Cols
	}
	return n
}

// lanes hold for each float type, over 64 bits, the bits of sign and mantissa,
// and the number one.
var lanes = map[tensor.DType]struct{ free, one uint64 }{
	tensor.Float16:  {0x83ff_83ff_83ff_83ff, 0x3c00_3c00_3c00_3c00},
	tensor.BFloat16: {0x807f_807f_807f_807f, 0x3f80_3f80_3f80_3f80},
	tensor.Float32:  {0x807fffff_807fffff, 0x3f800000_3f800000},
	tensor.Float64:  {0x800fffff_ffffffff, 0x3ff00000_00000000},
}

// Ordinary returns an array of a float type whose values are between 1 and 2 or
// between -2 and -1, the same ones each time: no zeros or subnormals, which some
// machines treat apart.
func Ordinary(d tensor.DType, rows, cols int) tensor.Array {
	a := tensor.NewArray(d, rows, cols)
	r, l := rand.NewPCG(1, 2), lanes[d]
	b := a.Data
	for ; len(b) >= 8; b = b[8:] {
		binary.NativeEndian.PutUint64(b, r.Uint64()&l.free|l.one)
	}
	var last [8]byte
	binary.NativeEndian.PutUint64(last[:], r.Uint64()&l.free|l.one)
	copy(b, last[:])
	return a
}
