package tensor

import "fmt"

// DType is the type of an array's elements. The zero value is Invalid.
type DType uint8

// The element types that a dump may hold, named as numpy and torch name them.
const (
	Invalid DType = iota
	Float16
	BFloat16
	Float32
	Float64
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Bool
)

var dtypes = [...]struct {
	name string
	size int
}{
	Invalid:  {"invalid", 0},
	Float16:  {"float16", 2},
	BFloat16: {"bfloat16", 2},
	Float32:  {"float32", 4},
	Float64:  {"float64", 8},
	Int8:     {"int8", 1},
	Int16:    {"int16", 2},
	Int32:    {"int32", 4},
	Int64:    {"int64", 8},
	Uint8:    {"uint8", 1},
	Uint16:   {"uint16", 2},
	Uint32:   {"uint32", 4},
	Uint64:   {"uint64", 8},
	Bool:     {"bool", 1},
}

// ParseDType returns the type with the given name, such as "float32" or
// "bfloat16".
func ParseDType(name string) (DType, error) {
	for d, t := range dtypes {
		if d != int(Invalid) && t.name == name {
			return DType(d), nil
		}
	}
	return Invalid, fmt.Errorf("unknown dtype %q", name)
}

// String returns the name of the type as numpy spells it.
func (d DType) String() string {
	if int(d) >= len(dtypes) {
		return dtypes[Invalid].name
	}
	return dtypes[d].name
}

// Size returns the bytes of one element, 0 for Invalid.
func (d DType) Size() int {
	if int(d) >= len(dtypes) {
		return 0
	}
	return dtypes[d].size
}

// IsFloat reports whether elements of the type can be NaN or infinite.
func (d DType) IsFloat() bool { return d >= Float16 && d <= Float64 }
