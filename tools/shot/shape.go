package main

import (
	"fmt"
	"io"
	"strings"
)

// isShape reports whether a character is drawn as a shape instead of by a font:
// blocks, rules and braille, whose neighbours must touch.
func isShape(r rune) bool {
	return r >= 0x2581 && r <= 0x258f || r == '░' || r == '─' || r == '━' || r == '│' || r >= 0x2800 && r <= 0x28ff
}

// shapes draws a row of such characters as one path; the light shade has its
// own opacity.
func shapes(w io.Writer, text []rune, x, y float64, fill string) {
	var path, shade strings.Builder
	for i, r := range text {
		cx := x + float64(i)*cellWidth
		if r == '░' {
			box(&shade, cx, y, cellWidth, cellHeight)
			continue
		}
		shape(&path, r, cx, y)
	}
	if shade.Len() > 0 {
		fmt.Fprintf(w, `<path d="%s" fill="%s" opacity="0.35"/>`+"\n", shade.String(), fill)
	}
	if path.Len() > 0 {
		fmt.Fprintf(w, `<path d="%s" fill="%s"/>`+"\n", path.String(), fill)
	}
}

// shape adds one character to a path.
func shape(b *strings.Builder, r rune, x, y float64) {
	switch {
	case r == '─':
		box(b, x, y+cellHeight/2-0.5, cellWidth, 1)
	case r == '━':
		box(b, x, y+cellHeight/2-1, cellWidth, 2)
	case r == '│':
		box(b, x+cellWidth/2-0.5, y, 1, cellHeight)
	case r >= 0x2581 && r <= 0x2588: // eighths from below
		h := cellHeight * float64(r-0x2580) / 8
		box(b, x+0.4, y+cellHeight-h, cellWidth-0.8, h)
	case r >= 0x2589 && r <= 0x258f: // eighths from the left, fewer and fewer
		box(b, x, y+2, cellWidth*float64(0x2590-r)/8, cellHeight-4)
	default:
		braille(b, r, x, y)
	}
}

// dots are the places of the bits of a braille character.
var dots = [8][2]float64{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

// braille adds a square for every dot.
func braille(b *strings.Builder, r rune, x, y float64) {
	const side = 2.4
	for bit, at := range dots {
		if (r-0x2800)>>bit&1 == 1 {
			cx := x + cellWidth*(at[0]+0.5)/2
			cy := y + cellHeight*(at[1]+0.5)/4
			box(b, cx-side/2, cy-side/2, side, side)
		}
	}
}

// box adds a rectangle to a path.
func box(b *strings.Builder, x, y, w, h float64) {
	fmt.Fprintf(b, "M%s %sh%sv%sh-%sz", px(x), px(y), px(w), px(h), px(w))
}
