package main

import (
	"fmt"
	"math"
	"strings"
)

// plot draws the reliability table: a point per bin, as large as the bin is, on
// the way from "never right" to "always right".
func plot(bins []bin) string {
	const size, left, top = 360.0, 60.0, 20.0
	x := func(v float64) float64 { return left + size*v }
	y := func(v float64) float64 { return top + size*(1-v) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12">`+"\n", left+size+20, top+size+50)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" fill="none" stroke="#888"/>`+"\n", left, top, size, size)
	fmt.Fprintf(&b, `<path d="M%.0f %.0fL%.0f %.0f" stroke="#bbb" stroke-dasharray="4"/>`+"\n", x(0), y(0), x(1), y(1))
	for i := 0; i <= 10; i += 2 {
		v := float64(i) / 10
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%.1f</text><text x="%.1f" y="%.1f" text-anchor="end">%.1f</text>`+"\n", x(v), y(0)+18, v, left-8, y(v)+4, v)
	}
	var path []string
	for _, k := range bins {
		if k.N == 0 {
			continue
		}
		path = append(path, fmt.Sprintf("%.1f,%.1f", x(k.Belief), y(k.Right)))
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#2b6cb0" fill-opacity="0.6"><title>%d dumps</title></circle>`+"\n",
			x(k.Belief), y(k.Right), 3+2*math.Log10(float64(k.N)), k.N)
	}
	fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="#2b6cb0"/>`+"\n", strings.Join(path, " "))
	fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="middle">belief in the first cause</text>`, left+size/2, top+size+40)
	fmt.Fprintf(&b, `<text transform="translate(16 %.0f) rotate(-90)" text-anchor="middle">share that was right</text>`+"\n</svg>\n", top+size/2)
	return b.String()
}
