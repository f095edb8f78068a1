package ui

import (
	"strings"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
)

// screen is a picture of w x h cells that panes are put on.
type screen struct {
	w, h  int
	parts []part
}

// part is a pane's lines at their place.
type part struct {
	at    Rect
	lines []string
}

// put shows lines at a place. What does not fit is cut.
func (s *screen) put(at Rect, lines []string) {
	if !at.Empty() {
		s.parts = append(s.parts, part{at, lines})
	}
}

// String returns the picture: h lines of exactly w cells. Parts must not
// overlap; gap stands where no part is.
func (s *screen) String(gap string) string {
	var b strings.Builder
	for y := range s.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		s.line(&b, y, gap)
	}
	return b.String()
}

// line writes one line: its parts from left to right.
func (s *screen) line(b *strings.Builder, y int, gap string) {
	x := 0
	for x < s.w {
		p := s.from(x, y)
		if p == nil {
			b.WriteString(strings.Repeat(" ", s.w-x))
			return
		}
		if p.at.X > x {
			b.WriteString(strings.Repeat(gap, p.at.X-x))
		}
		text := ""
		if i := y - p.at.Y; i < len(p.lines) {
			text = p.lines[i]
		}
		w := min(p.at.W, s.w-p.at.X)
		b.WriteString(cell.Fit(text, w))
		x = p.at.X + w
	}
}

// from returns the first part of line y at column x or behind it.
func (s *screen) from(x, y int) *part {
	var first *part
	for i := range s.parts {
		p := &s.parts[i]
		if y < p.at.Y || y >= p.at.Y+p.at.H || p.at.X < x || p.at.X >= s.w {
			continue
		}
		if first == nil || p.at.X < first.at.X {
			first = p
		}
	}
	return first
}
