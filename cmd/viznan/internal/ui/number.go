package ui

import (
	"fmt"
	"math"
	"strconv"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
)

// numberWidth is the widest text of number.
const numberWidth = 11

// number writes a value in at most numberWidth cells: NaN and the infinities as
// words, whole numbers of integer fields without exponent.
func number(v float64, isFloat bool) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case !isFloat && math.Abs(v) < 1e10:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	for digits := 5; ; digits-- {
		if s := strconv.FormatFloat(v, 'g', digits, 64); len(s) <= numberWidth {
			return s
		}
	}
}

// tallyText says what a row holds: "4 NaN, 1 +Inf of 18; -12 … 3.4".
func tallyText(t recording.Tally, n int) string {
	text := ""
	for _, c := range []struct {
		n    int
		name string
	}{{t.NaN, "NaN"}, {t.PosInf, "+Inf"}, {t.NegInf, "-Inf"}, {t.Huge, "huge"}} {
		if c.n > 0 {
			text += fmt.Sprintf("%d %s, ", c.n, c.name)
		}
	}
	if text == "" {
		text = "all finite, "
	}
	text = fmt.Sprintf("%s of %d", text[:len(text)-2], n)
	if t.Min <= t.Max {
		text += fmt.Sprintf("; %s … %s", number(t.Min, true), number(t.Max, true))
	}
	return text
}

// clean makes a raw name of the file harmless.
func clean(s string) string { return cell.Clean(s) }
