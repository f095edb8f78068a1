package main

import "fmt"

// The colours of the picture: a dark terminal.
const (
	backColour  = "#11151c"
	frameColour = "#1c222c"
	textColour  = "#d7dce2"
)

// basic are the sixteen colours that a terminal names.
var basic = [16]string{
	"#2b303b", "#ff5f5f", "#5fd787", "#ffaf00", "#5fafff", "#c792ea", "#56b6c2", "#d7dce2",
	"#8a8a8a", "#ff8787", "#87ffaf", "#ffd75f", "#87d7ff", "#e4b5ff", "#87e7ee", "#ffffff",
}

// levels are the six steps of the colour cube.
var levels = [6]int{0, 95, 135, 175, 215, 255}

// indexed returns one of the 256 colours: the basic ones, a cube, and greys.
func indexed(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return basic[n]
	case n < 232:
		n -= 16
		return hex(levels[n/36], levels[n/6%6], levels[n%6])
	}
	grey := 8 + 10*(n-232)
	return hex(grey, grey, grey)
}

// hex writes a colour.
func hex(r, g, b int) string { return fmt.Sprintf("#%02x%02x%02x", r&0xff, g&0xff, b&0xff) }
