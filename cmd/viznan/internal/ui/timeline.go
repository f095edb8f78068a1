package ui

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
)

// timelinePane shows the whole recording from left to right: what happened,
// how many fields are bad, and where we are.
type timelinePane struct{ *scene }

// View draws the strip in h rows: title, marks, bad fields, ticks; with less
// room the later ones go.
func (p timelinePane) View(w, h int, play string) []string {
	first, last, ok := p.rec.Span()
	lines := []string{p.st.title(p.title(first, last, ok), w, false)}
	if !ok || h < minTimeline {
		return lines
	}
	if play != "" {
		lines[0] = p.st.title(p.title(first, last, ok)+" · "+play, w, false)
	}
	s := strip{first, last, w}
	lines = append(lines, p.marks(s))
	if h > 2 {
		lines = append(lines, p.bad(s))
	}
	if h > 3 {
		lines = append(lines, p.st.axis(w, first, last, p.spot.Tick, s.column(p.spot.Tick)))
	}
	return lines
}

// title says where we are and what happens there, the most telling first.
func (p timelinePane) title(first, last int64, ok bool) string {
	if !ok {
		return "timeline"
	}
	text := fmt.Sprintf("timeline · tick %d of %d to %d", p.spot.Tick, first, last)
	var here []recording.Mark
	before := 0
	for _, m := range p.rec.Marks {
		if m.Tick == p.spot.Tick {
			here = append(here, m)
		}
		if m.Tick < first && m.Touches(p.envID()) {
			before++
		}
	}
	slices.SortStableFunc(here, func(a, b recording.Mark) int { return p.rank(b) - p.rank(a) })
	for _, m := range here {
		text += " · " + string(m.Glyph) + " " + m.Text
	}
	if before > 0 {
		text += " · " + count(before, "event") + " before"
	}
	return text
}

// strip maps ticks to columns.
type strip struct {
	first, last int64
	w           int
}

// column returns the column of a tick; one outside is held at the edge. The
// ticks of a damaged file may lie further apart than an int64 can say.
func (s strip) column(tick int64) int {
	if s.last <= s.first {
		return 0
	}
	share := (float64(tick) - float64(s.first)) / (float64(s.last) - float64(s.first))
	return min(max(int(share*float64(s.w-1)), 0), s.w-1)
}

// marks draws one glyph per column, the most telling mark of it, on a line
// that spans the frames of the selected field.
func (p timelinePane) marks(s strip) string {
	text := []rune(strings.Repeat(" ", s.w))
	styles := make([]*lipgloss.Style, s.w)
	for i := range styles {
		styles[i] = &p.st.Faint
	}
	if t, _ := p.track(); t != nil && t.Len() > 0 {
		for x := s.column(t.Tick(0)); x <= s.column(t.Tick(t.Len()-1)); x++ {
			text[x] = '─'
		}
	}
	now := s.column(p.spot.Tick)
	text[now], styles[now] = '│', &p.st.Cursor
	best := make([]int, s.w)
	for _, m := range p.rec.Marks {
		if m.Tick < s.first || m.Tick > s.last {
			continue
		}
		if x := s.column(m.Tick); p.rank(m) > best[x] {
			best[x] = p.rank(m)
			text[x], styles[x] = p.glyph(m)
		}
	}
	return paint(text, func(i int, _ rune) *lipgloss.Style { return styles[i] })
}

// rank orders the marks that share a column.
func (p timelinePane) rank(m recording.Mark) int {
	r := 1 + 2*int(m.Kind)
	if m.Touches(p.envID()) {
		r++
	}
	return r
}

// routineGlyph stands for a reset or the start of an episode of another env:
// there may be hundreds, and no letter among them would be seen.
const routineGlyph = '┴'

// glyph is the character and the style of a mark; events of other envs are
// small and faint.
func (p timelinePane) glyph(m recording.Mark) (rune, *lipgloss.Style) {
	here := m.Touches(p.envID())
	switch {
	case m.Kind == recording.OnsetMark:
		return m.Glyph, &p.st.BadText
	case m.Kind == recording.PrecursorMark:
		return m.Glyph, &p.st.Warn
	case here:
		return m.Glyph, &p.st.Accent
	case m.Kind == recording.RoutineMark:
		return routineGlyph, &p.st.Faint
	}
	return unicode.ToLower(m.Glyph), &p.st.Faint
}

// heights draw a share of the fields.
var heights = []rune("▁▂▃▄▅▆▇█")

// bad draws, for each column, the share of the fields with frames there that
// are bad in the selected env.
func (p timelinePane) bad(s strip) string {
	fields, bad := make([]int, s.w), make([]int, s.w)
	for _, f := range p.rec.Fields {
		if f.Frames != nil {
			p.count(f.Frames, s, fields, bad)
		}
	}
	text := []rune(strings.Repeat(" ", s.w))
	text[s.column(p.spot.Tick)] = '│'
	for x := range text {
		if bad[x] > 0 {
			text[x] = heights[(len(heights)-1)*bad[x]/fields[x]]
		}
	}
	return paint(text, func(i int, r rune) *lipgloss.Style {
		if r == '│' {
			return &p.st.Cursor
		}
		return &p.st.BadText
	})
}

// count adds a track to the columns that hold a frame of it.
func (p timelinePane) count(t *recording.Track, s strip, fields, bad []int) {
	row, ok := t.Row(p.envID())
	if !ok {
		return
	}
	seen, counted := -1, -1
	for i := range t.Len() {
		x := s.column(t.Tick(i))
		if x != seen {
			seen = x
			fields[x]++
		}
		if x != counted && t.Health(i, row).Bad() {
			counted = x
			bad[x]++
		}
	}
}

// playing says how the replay runs.
func playing(speed int) string { return fmt.Sprintf("▶ %d frames/s", speed) }

// legend explains the glyphs of the timeline, for the help.
func legend() string {
	list := []string{"Timeline: ✗ first bad value", "! huge or growing", "─ frames of the field"}
	for _, g := range recording.EventGlyphs {
		list = append(list, string(g.Glyph)+" "+strings.ReplaceAll(g.Kind, "_", " "))
	}
	return strings.Join(list, ", ") + "; small letters: other envs; " +
		string(routineGlyph) + " reset or start of an episode of other envs. " +
		"The lower strip: how many of the fields are bad in the selected env."
}
