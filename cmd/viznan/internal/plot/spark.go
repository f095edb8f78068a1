package plot

import (
	"math"
	"strings"
)

// The marks of values that no height can show.
const (
	NaNMark    = '✗'
	PosInfMark = '▲'
	NegInfMark = '▼'
)

// Mark returns the mark of a non-finite value, 0 for a finite one.
func Mark(v float64) rune {
	switch {
	case v != v:
		return NaNMark
	case v > math.MaxFloat64:
		return PosInfMark
	case v < -math.MaxFloat64:
		return NegInfMark
	}
	return 0
}

var levels = []rune("▁▂▃▄▅▆▇█")

// Spark draws one character per value, each as high as the scale says;
// non-finite values are marks.
func Spark(s Scale, values []float64) string {
	var b strings.Builder
	for _, v := range values {
		m := Mark(v)
		if m == 0 {
			m = levels[int(math.Round(s.At(v)*float64(len(levels)-1)))]
		}
		b.WriteRune(m)
	}
	return b.String()
}

var eighths = []rune(" ▏▎▍▌▋▊▉█")

// Bar draws a share of one as a bar in exactly width cells.
func Bar(share float64, width int) string {
	if width <= 0 {
		return ""
	}
	if !(share > 0) { // NaN too
		share = 0
	}
	n := int(math.Round(min(share, 1) * float64(8*width)))
	full := strings.Repeat("█", n/8)
	if n%8 == 0 {
		return full + strings.Repeat(" ", width-n/8)
	}
	return full + string(eighths[n%8]) + strings.Repeat(" ", width-n/8-1)
}
