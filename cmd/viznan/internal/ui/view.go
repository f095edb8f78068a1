package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
)

// View draws the screen in the size of the terminal.
func (m *Model) View() tea.View {
	v := tea.NewView(m.Frame(m.width, m.height))
	v.AltScreen = true
	v.WindowTitle = "viznan " + m.rec.Name
	if m.filtering && m.height > 0 {
		if v.Cursor = m.input.Cursor(); v.Cursor != nil {
			v.Cursor.Y = m.height - 1
		}
	}
	return v
}

// Frame draws the screen as h lines of exactly w cells.
func (m *Model) Frame(w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	s := &screen{w: w, h: h}
	if m.helpOpen {
		s.put(Rect{0, 0, w, h}, m.helpView(w, h))
		return s.String(" ")
	}
	l := Arrange(w, h, len(m.envs.rows()), m.focus)
	s.put(l.Header, headerPane{&m.scene}.View(l.Header.W, l.Header.H))
	m.putPanes(s, l)
	s.put(l.Timeline, timelinePane{&m.scene}.View(l.Timeline.W, l.Timeline.H, m.play.state()))
	s.put(l.Footer, []string{m.footer(l.Footer.W)})
	return s.String(m.st.Title.Render("│"))
}

// putPanes draws the panes between header and timeline that have a place.
func (m *Model) putPanes(s *screen, l Layout) {
	for _, p := range []struct {
		at    Rect
		focus Focus
		view  func(w, h int, focused bool) []string
	}{
		{l.Envs, FocusEnvs, m.envs.View},
		{l.Fields, FocusFields, m.fields.View},
		{l.Values, FocusValues, m.values.View},
		{l.Causes, FocusCauses, m.causes.View},
		{l.Checklist, FocusChecklist, m.checklist.View},
	} {
		if !p.at.Empty() {
			s.put(p.at, p.view(p.at.W, p.at.H, m.focus == p.focus))
		}
	}
	if !l.Chart.Empty() {
		s.put(l.Chart, m.chart.View(l.Chart.W, l.Chart.H))
	}
}

// footer draws the bottom line: the filter as it is typed, what the last key
// did, or the keys.
func (m *Model) footer(w int) string {
	switch {
	case m.filtering:
		return cell.Fit(m.input.View(), w)
	case m.status != "":
		return m.st.Accent.Render(cell.Fit(" "+m.status, w))
	}
	m.help.SetWidth(max(w-1, 1))
	return " " + m.help.ShortHelpView(m.keys.ShortHelp())
}
