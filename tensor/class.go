package tensor

import (
	"fmt"
	"math"
)

// Class says what kind of number a floating-point bit pattern is. The zero
// value is Finite.
type Class uint8

// The classes of a value. Subnormal numbers and zeros are Finite.
const (
	Finite Class = iota
	NaN
	PosInf
	NegInf
)

var classNames = [...]string{Finite: "finite", NaN: "nan", PosInf: "posinf", NegInf: "neginf"}

// String returns the name that dump files use: "finite", "nan", "posinf" or
// "neginf".
func (c Class) String() string {
	if int(c) >= len(classNames) {
		return "invalid"
	}
	return classNames[c]
}

// ParseClass returns the class with the given name.
func ParseClass(name string) (Class, error) {
	for c, n := range classNames {
		if n == name {
			return Class(c), nil
		}
	}
	return Finite, fmt.Errorf("unknown class %q", name)
}

// ClassOf returns the class of v.
func ClassOf(v float64) Class {
	switch {
	case v != v:
		return NaN
	case v > math.MaxFloat64:
		return PosInf
	case v < -math.MaxFloat64:
		return NegInf
	}
	return Finite
}

// floatLayout holds the masks of a float format: the exponent's bits, the
// fraction's bits and the sign.
type floatLayout struct{ exp, frac, sign uint64 }

var floatLayouts = [...]floatLayout{
	Float16:  {0x7c00, 0x03ff, 0x8000},
	BFloat16: {0x7f80, 0x007f, 0x8000},
	Float32:  {0x7f800000, 0x007fffff, 0x80000000},
	Float64:  {0x7ff0000000000000, 0x000fffffffffffff, 0x8000000000000000},
}

// Classify returns the class of the element whose raw bits are given. A type
// that is no float has finite elements only.
func (d DType) Classify(bits uint64) Class {
	if !d.IsFloat() {
		return Finite
	}
	l := floatLayouts[d]
	switch {
	case bits&l.exp != l.exp:
		return Finite
	case bits&l.frac != 0:
		return NaN
	case bits&l.sign != 0:
		return NegInf
	}
	return PosInf
}
