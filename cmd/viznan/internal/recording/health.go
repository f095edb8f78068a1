package recording

import (
	"encoding/binary"
	"math"

	"github.com/nanguard/nanguard/tensor"
)

// Huge is the magnitude from which a finite value counts as huge: MuJoCo's
// mjMAXVAL, beyond which its own checks call a state bad.
const Huge = 1e10

// Health says what one row of one frame holds, a bit for each kind of trouble;
// 0 is a row of ordinary numbers.
type Health uint8

// The kinds of trouble.
const (
	HasNaN Health = 1 << iota
	HasPosInf
	HasNegInf
	HasHuge
)

// Bad reports whether a value is not finite.
func (h Health) Bad() bool { return h&(HasNaN|HasPosInf|HasNegInf) != 0 }

// healthOf returns the health of one value.
func healthOf(v float64) Health {
	switch m := math.Abs(v); {
	case m < Huge:
		return 0
	case m <= math.MaxFloat64:
		return HasHuge
	case v > 0:
		return HasPosInf
	case v < 0:
		return HasNegInf
	}
	return HasNaN
}

// examine returns the health of every row: n runs of cols elements. Integers
// and truth values are always well.
func examine(a tensor.Array, n, cols int) []Health {
	rows := make([]Health, n)
	if !a.DType.IsFloat() {
		return rows
	}
	size := cols * a.DType.Size()
	for i := range rows {
		if wild(a.DType, a.Data[i*size:(i+1)*size]) {
			for j := i * cols; j < (i+1)*cols; j++ {
				rows[i] |= healthOf(a.Float64(j))
			}
		}
	}
	return rows
}

// The bits of Huge without its sign: a value is huge or not finite exactly if
// its own bits without the sign are not below.
const (
	hugeBits32 = 0x501502f9
	hugeBits64 = 0x4202a05f20000000
)

// wild reports whether a row may hold a value that is huge or not finite. It
// is what makes opening a large dump quick.
func wild(d tensor.DType, row []byte) bool {
	switch d {
	case tensor.Float32:
		for ; len(row) >= 4; row = row[4:] {
			if binary.LittleEndian.Uint32(row)&^(1<<31) >= hugeBits32 {
				return true
			}
		}
		return false
	case tensor.Float64:
		for ; len(row) >= 8; row = row[8:] {
			if binary.LittleEndian.Uint64(row)&^(1<<63) >= hugeBits64 {
				return true
			}
		}
		return false
	}
	return true
}

// Tally counts the kinds of value in one row of one frame.
type Tally struct {
	NaN, PosInf, NegInf, Huge int
	Min, Max                  float64 // of the finite values; Min > Max when there is none
}

// Bad returns the number of values that are not finite.
func (t Tally) Bad() int { return t.NaN + t.PosInf + t.NegInf }

// tally counts.
func tally(row []float64) Tally {
	t := Tally{Min: math.Inf(1), Max: math.Inf(-1)}
	for _, v := range row {
		switch healthOf(v) {
		case HasNaN:
			t.NaN++
			continue
		case HasPosInf:
			t.PosInf++
			continue
		case HasNegInf:
			t.NegInf++
			continue
		case HasHuge:
			t.Huge++
		}
		t.Min, t.Max = min(t.Min, v), max(t.Max, v)
	}
	return t
}
