package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style is how a cell looks. Colours are "" for the terminal's own, else
// "#rrggbb".
type style struct {
	fg, bg                                  string
	bold, faint, italic, underline, inverse bool
}

// glyph is one character, which may be a cluster of code points, in its cell.
type glyph struct {
	text  string
	width int // cells: 1 or 2
	style style
}

// parse splits ANSI text into lines of styled glyphs. Sequences other than
// colours and looks are dropped, and so are control characters.
func parse(text string) [][]glyph {
	var lines [][]glyph
	p := ansi.NewParser()
	var st style
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var row []glyph
		var state byte
		for len(line) > 0 {
			seq, width, n, next := ansi.DecodeSequence(line, state, p)
			state, line = next, line[n:]
			switch {
			case width > 0:
				row = append(row, glyph{seq, width, st})
			case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m"):
				st.apply(p.Params())
			}
		}
		lines = append(lines, row)
	}
	return lines
}

// apply changes the style as one SGR sequence says.
func (s *style) apply(params ansi.Params) {
	if len(params) == 0 {
		*s = style{}
	}
	for i := 0; i < len(params); i++ {
		code := params[i].Param(0)
		switch code {
		case 38, 48:
			colour, used := extended(params[i+1:])
			i += used
			if code == 38 {
				s.fg = colour
			} else {
				s.bg = colour
			}
		default:
			s.set(code)
		}
	}
}

// set applies one simple code.
func (s *style) set(code int) {
	switch {
	case code == 0:
		*s = style{}
	case code == 1:
		s.bold = true
	case code == 2:
		s.faint = true
	case code == 3:
		s.italic = true
	case code == 4:
		s.underline = true
	case code == 7:
		s.inverse = true
	case code == 22:
		s.bold, s.faint = false, false
	case code == 23:
		s.italic = false
	case code == 24:
		s.underline = false
	case code == 27:
		s.inverse = false
	case code == 39:
		s.fg = ""
	case code == 49:
		s.bg = ""
	case code >= 30 && code <= 37:
		s.fg = indexed(code - 30)
	case code >= 40 && code <= 47:
		s.bg = indexed(code - 40)
	case code >= 90 && code <= 97:
		s.fg = indexed(code - 90 + 8)
	case code >= 100 && code <= 107:
		s.bg = indexed(code - 100 + 8)
	}
}

// extended reads the colour behind a 38 or 48 and says how many parameters it
// took.
func extended(params ansi.Params) (colour string, used int) {
	at := func(i int) int {
		if i >= len(params) {
			return 0
		}
		return params[i].Param(0)
	}
	switch at(0) {
	case 5:
		return indexed(at(1)), 2
	case 2:
		return hex(at(1), at(2), at(3)), 4
	}
	return "", 0
}

// colours returns the foreground and background as they are seen.
func (s style) colours() (fg, bg string) {
	fg, bg = s.fg, s.bg
	if fg == "" {
		fg = textColour
	}
	if s.inverse {
		if bg == "" {
			bg = backColour
		}
		fg, bg = bg, fg
	}
	return fg, bg
}
