package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/internal/safetext"
)

// ByteSize is a flag value: a number of bytes such as 536870912, 512M or 2G
// (powers of 1024; a trailing B or iB is allowed).
type ByteSize int64

var suffixes = map[string]int{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}

// Set parses the flag's text.
func (b *ByteSize) Set(s string) error {
	u := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B"), "I")
	digits := strings.TrimRight(u, "KMGT")
	shift, ok := suffixes[u[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n <= 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is not a size such as 512M or 2G", s)
	}
	*b = ByteSize(n << shift)
	return nil
}

// String returns the size in the largest unit that it is a whole number of.
func (b *ByteSize) String() string {
	n, unit := int64(*b), ""
	for _, u := range []string{"K", "M", "G", "T"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	return strconv.FormatInt(n, 10) + unit
}

// Type names the value in help texts.
func (b *ByteSize) Type() string { return "size" }

// OneLine returns s on one line and without anything that a terminal would
// act on.
func OneLine(s string) string {
	return safetext.Line(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
