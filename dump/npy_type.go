package dump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nanguard/nanguard/tensor"
)

// npyType is the type of an entry's elements as numpy names it. Two raw bytes
// ('V') are what bfloat16 becomes where numpy does not know it.
type npyType struct {
	kind byte // 'f', 'i', 'u', 'b', 'V' (raw), 'U' or 'S' (text), 'O' (pickle)
	size int  // bytes of one element; 0 for 'O'
	big  bool // big-endian
}

// parseType parses a dtype such as "<f8", "|b1", ">i4" or "<U9".
func parseType(descr string) (npyType, error) {
	unknown := fmt.Errorf("dtype %s is not one that a dump may hold", quote(descr))
	order, rest := byte('='), descr
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		order, rest = descr[0], descr[1:]
	}
	if rest == "O" || rest == "O8" {
		return npyType{kind: 'O'}, nil
	}
	if rest == "?" {
		rest = "b1"
	}
	if len(rest) < 2 || rest[1] < '0' || rest[1] > '9' {
		return npyType{}, unknown
	}
	n, err := strconv.Atoi(rest[1:])
	if err != nil || n > 1<<24 {
		return npyType{}, unknown
	}
	t := npyType{kind: rest[0], size: n, big: order == '>'}
	switch t.kind {
	case 'U':
		t.size *= 4
	case 'S':
	default:
		if t.dtype() == tensor.Invalid {
			return npyType{}, unknown
		}
	}
	return t, nil
}

// String returns the type as numpy spells it.
func (t npyType) String() string {
	switch t.kind {
	case 'U', 'S':
		return "str"
	case 'O':
		return "object"
	}
	return t.dtype().String()
}

// numbers holds the element types by numpy's letter and the logarithm of their
// size.
var numbers = map[byte][4]tensor.DType{
	'f': {1: tensor.Float16, 2: tensor.Float32, 3: tensor.Float64},
	'i': {tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64},
	'u': {tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64},
	'b': {tensor.Bool},
	'V': {1: tensor.BFloat16},
}

// dtype returns the element type of a number, Invalid for what is none.
func (t npyType) dtype() tensor.DType {
	if t.size < 1 || t.size > 8 || t.size&(t.size-1) != 0 {
		return tensor.Invalid
	}
	return numbers[t.kind][bits.TrailingZeros(uint(t.size))]
}

// value returns element i of data, stored in the type, as metadata shows it:
// int64, float64, bool or string; an integer beyond int64 as its digits.
func (t npyType) value(data []byte, i int) any {
	b := data[i*t.size : (i+1)*t.size]
	switch t.kind {
	case 'S':
		return strings.TrimRight(string(b), "\x00")
	case 'U':
		return t.text(b)
	}
	if t.big {
		b = bytes.Clone(b)
		swapBytes(b, t.size)
	}
	return numberValue(t.kind, t.dtype(), b)
}

// numberValue returns the little-endian number in b.
func numberValue(kind byte, d tensor.DType, b []byte) any {
	raw := d.Bits(b)
	switch kind {
	case 'b':
		return raw != 0
	case 'i':
		return wholeNumber(d, raw)
	case 'u':
		if raw > math.MaxInt64 {
			return strconv.FormatUint(raw, 10)
		}
		return int64(raw)
	}
	return d.Float64(raw)
}

// wholeNumber returns the integer with the given bits; one beyond int64 as the
// largest.
func wholeNumber(d tensor.DType, raw uint64) int64 {
	if d >= tensor.Uint8 {
		return int64(min(raw, math.MaxInt64))
	}
	unused := 64 - 8*d.Size()
	return int64(raw<<unused) >> unused
}

// text decodes numpy's UCS-4 text without its padding.
func (t npyType) text(b []byte) string {
	var out []byte
	var order binary.ByteOrder = binary.LittleEndian
	if t.big {
		order = binary.BigEndian
	}
	for ; len(b) >= 4; b = b[4:] {
		out = utf8.AppendRune(out, rune(order.Uint32(b)))
	}
	return strings.TrimRight(string(out), "\x00")
}

// swapBytes reverses the bytes of every element of the given size.
func swapBytes(b []byte, size int) {
	for ; len(b) >= size && size > 1; b = b[size:] {
		slices.Reverse(b[:size])
	}
}
