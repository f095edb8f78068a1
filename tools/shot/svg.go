package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The measures of the picture in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	fontSize   = 14.0
	baseline   = 13.5 // from the top of a cell
	margin     = 14.0
	titleBar   = 34.0
)

// draw writes the picture of a screen.
func draw(w io.Writer, lines [][]glyph, title string) {
	width, height := size(lines)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" xml:space="preserve">`+"\n", px(width), px(height))
	fmt.Fprintf(w, `<style>text{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:%spx;white-space:pre}</style>`+"\n", px(fontSize))
	window(w, width, height, title)
	for y, row := range lines {
		drawLine(w, row, margin, titleBar+float64(y)*cellHeight)
	}
	fmt.Fprintln(w, "</svg>")
}

// size returns the pixels that a screen takes with its window.
func size(lines [][]glyph) (width, height float64) {
	cells := 0
	for _, row := range lines {
		n := 0
		for _, g := range row {
			n += g.width
		}
		cells = max(cells, n)
	}
	return 2*margin + float64(cells)*cellWidth, titleBar + float64(len(lines))*cellHeight + margin
}

// window draws the frame and the title bar.
func window(w io.Writer, width, height float64, title string) {
	fmt.Fprintf(w, `<rect width="%s" height="%s" rx="9" fill="%s"/>`+"\n", px(width), px(height), frameColour)
	fmt.Fprintf(w, `<rect y="26" width="%s" height="%s" rx="9" fill="%s"/>`+"\n", px(width), px(height-26), backColour)
	for i, c := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(w, `<circle cx="%s" cy="13" r="5" fill="%s"/>`+"\n", px(18+18*float64(i)), c)
	}
	fmt.Fprintf(w, `<text x="%s" y="17.5" fill="#8a8a8a" text-anchor="middle">%s</text>`+"\n", px(width/2), escape(title))
}

// stretch is a run of glyphs that are drawn as one.
type stretch struct {
	text  string
	cells int
	style style
	shape bool
}

// drawLine draws one line whose cells begin at (x, y): the backgrounds, then
// what stands on them.
func drawLine(w io.Writer, row []glyph, x, y float64) {
	for _, r := range stretches(row) {
		wide := float64(r.cells) * cellWidth
		fg, bg := r.style.colours()
		if bg != "" {
			fmt.Fprintf(w, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", px(x), px(y), px(wide), px(cellHeight), bg)
		}
		if r.shape {
			shapes(w, []rune(r.text), x, y, fg)
		} else {
			drawText(w, r, x, y, fg)
		}
		x += wide
	}
}

// drawText draws a stretch of text, without the spaces around it: they show
// nothing, and not every viewer keeps them.
func drawText(w io.Writer, r stretch, x, y float64, fg string) {
	text := r.text
	if !r.style.underline {
		text = strings.TrimLeft(text, " ")
		lead := len(r.text) - len(text)
		x, r.cells = x+float64(lead)*cellWidth, r.cells-lead
		trimmed := strings.TrimRight(text, " ")
		r.cells -= len(text) - len(trimmed)
		text = trimmed
	}
	if text == "" {
		return
	}
	fmt.Fprintf(w, `<text x="%s" y="%s" textLength="%s" fill="%s"%s>%s</text>`+"\n",
		px(x), px(y+baseline), px(float64(r.cells)*cellWidth), fg, looks(r.style), escape(text))
}

// stretches joins glyphs of one style. Characters that are drawn as shapes, and
// characters that a font may draw wider, stand apart, so that the rest keeps
// its columns.
func stretches(row []glyph) (list []stretch) {
	for _, g := range row {
		r := []rune(g.text)[0]
		shape := len(g.text) == len(string(r)) && isShape(r)
		odd := !shape && r > 0x7e
		if n := len(list); n > 0 && !odd && list[n-1].style == g.style && list[n-1].shape == shape && plain(list[n-1].text) == plain(g.text) {
			list[n-1].text += g.text
			list[n-1].cells += g.width
			continue
		}
		list = append(list, stretch{g.text, g.width, g.style, shape})
	}
	return list
}

// plain reports whether text is ASCII.
func plain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > 0x7e }) < 0
}

// looks returns the attributes of a style other than its colours.
func looks(s style) (attrs string) {
	if s.bold {
		attrs += ` font-weight="bold"`
	}
	if s.faint {
		attrs += ` opacity="0.6"`
	}
	if s.italic {
		attrs += ` font-style="italic"`
	}
	if s.underline {
		attrs += ` text-decoration="underline"`
	}
	return attrs
}

// escape makes text fit for XML.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// px writes a length.
func px(v float64) string {
	s := strings.TrimRight(fmt.Sprintf("%.2f", v), "0")
	return strings.TrimSuffix(s, ".")
}
