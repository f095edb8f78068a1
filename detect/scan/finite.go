package scan

import (
	"encoding/binary"
	"unsafe"

	"github.com/nanguard/nanguard/tensor"
)

// lanes are the masks that test all elements of a 64-bit word at once. In each
// lane exp selects the exponent; adding one, its lowest bit, carries into the
// lane's top bit exactly when the exponent is all ones, and never further.
//
// The assembly compares words of 16 bits: keep leaves of an element the word that
// holds the exponent, without the sign, and most is the largest word of a finite
// element.
type lanes struct{ exp, one, top, keep, most uint64 }

var laneMasks = [...]lanes{
	tensor.Float16: {
		exp: 0x7c00_7c00_7c00_7c00, one: 0x0400_0400_0400_0400, top: 0x8000_8000_8000_8000,
		keep: 0x7fff_7fff_7fff_7fff, most: 0x7bff_7bff_7bff_7bff,
	},
	tensor.BFloat16: {
		exp: 0x7f80_7f80_7f80_7f80, one: 0x0080_0080_0080_0080, top: 0x8000_8000_8000_8000,
		keep: 0x7fff_7fff_7fff_7fff, most: 0x7f7f_7f7f_7f7f_7f7f,
	},
	tensor.Float32: {
		exp: 0x7f800000_7f800000, one: 0x00800000_00800000, top: 0x80000000_80000000,
		keep: 0x7fff0000_7fff0000, most: 0x7f7f0000_7f7f0000,
	},
	tensor.Float64: {
		exp: 0x7ff00000_00000000, one: 0x00100000_00000000, top: 0x80000000_00000000,
		keep: 0x7fff0000_00000000, most: 0x7fef0000_00000000,
	},
}

// AllFinite reports whether no element of ref is NaN or infinite. It is a pure
// read at the speed of memory; use Host to learn more in the same pass.
func AllFinite(ref tensor.Ref) bool {
	mustBeHost(ref)
	if !ref.DType.IsFloat() {
		return true
	}
	l := &laneMasks[ref.DType]
	if b := flat(ref); b != nil {
		return l.allFinite(b)
	}
	var room scratch
	b := newBlocks(ref)
	for p := b.next(room.bytes()); len(p) > 0; p = b.next(room.bytes()) {
		if !l.allFinite(p) {
			return false
		}
	}
	return true
}

// allFinite tests a run of elements, what the assembly leaves over in four
// streams, for the reason that it has eight: one stream alone reads at two
// thirds of the speed.
func (l *lanes) allFinite(b []byte) bool {
	b, finite := l.vectorFinite(b)
	if !finite {
		return false
	}
	n := len(b) / (4 * lineBytes)
	all := viewLines(b)
	q0, q1, q2, q3 := all[:n], all[n:2*n], all[2*n:3*n], all[3*n:4*n]
	for i := range q0 {
		if (l.test(&q0[i])|l.test(&q1[i])|l.test(&q2[i])|l.test(&q3[i]))&l.top != 0 {
			return false
		}
	}
	return l.tailFinite(b[4*n*lineBytes:])
}

// tailFinite tests what is too short for four streams.
func (l *lanes) tailFinite(b []byte) bool {
	var acc uint64
	for ; len(b) >= 8; b = b[8:] {
		acc |= l.at(b)
	}
	var last [8]byte // zeros are finite
	copy(last[:], b)
	acc |= l.at(last[:])
	return acc&l.top == 0
}

// line is what one stream takes at a time: two cache lines.
type line [lineBytes]byte

const lineBytes = 128

// viewLines returns b as whole lines, leaving a shorter end out.
func viewLines(b []byte) []line {
	return unsafe.Slice((*line)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/lineBytes)
}

// test returns a word whose top bits are set when a lane of p is not finite.
func (l *lanes) test(p *line) uint64 {
	x := l.at(p[0:]) | l.at(p[8:]) | l.at(p[16:]) | l.at(p[24:])
	y := l.at(p[32:]) | l.at(p[40:]) | l.at(p[48:]) | l.at(p[56:])
	z := l.at(p[64:]) | l.at(p[72:]) | l.at(p[80:]) | l.at(p[88:])
	w := l.at(p[96:]) | l.at(p[104:]) | l.at(p[112:]) | l.at(p[120:])
	return x | y | z | w
}

// at tests one word, at any alignment.
func (l *lanes) at(p []byte) uint64 { return binary.NativeEndian.Uint64(p)&l.exp + l.one }
