package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
)

// helpView draws every key, in as many columns as fit, and what the glyphs
// mean.
func (m *Model) helpView(w, h int) []string {
	lines := m.helpLines(w)
	m.helpTop = min(m.helpTop, max(len(lines)-(h-1), 0))
	title := m.st.title("viznan · keys · ↑ ↓ scroll, ? or esc closes, any other key closes and acts", w, true)
	return append([]string{title}, lines[m.helpTop:]...)
}

// helpLines lays the groups of keys out.
func (m *Model) helpLines(w int) []string {
	var lines []string
	m.help.SetWidth(0)
	groups := m.keys.FullHelp()
	for len(groups) > 0 {
		n := m.fitting(groups, w-2)
		for _, l := range strings.Split(m.help.FullHelpView(groups[:n]), "\n") {
			lines = append(lines, "  "+l)
		}
		lines = append(lines, "")
		groups = groups[n:]
	}
	for _, text := range []string{
		legend(),
		"Values: ✗ NaN, ▲ +Inf, ▼ -Inf, ! beyond 1e10. Roles: ✗ culprit, ? suspect, · control. NaN@44: the first one at tick 44.",
		"A filter is words that must all be in a name (or in the stage of a field); !word must not.",
	} {
		lines = append(lines, m.st.hang("  ", text, w, m.st.Faint)...)
	}
	return lines
}

// fitting counts the groups that fit beside each other, one at least.
func (m *Model) fitting(groups [][]key.Binding, w int) int {
	n := len(groups)
	for n > 1 && cell.Width(firstLine(m.help.FullHelpView(groups[:n]))) > w {
		n--
	}
	return n
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// helpKey handles a key while the help is open. A person who reads what a key
// does and presses it wants to see it done.
func (m *Model) helpKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(k, m.keys.Up):
		m.helpTop = max(m.helpTop-1, 0)
	case key.Matches(k, m.keys.Down):
		m.helpTop++
	case key.Matches(k, m.keys.PageUp):
		m.helpTop = max(m.helpTop-10, 0)
	case key.Matches(k, m.keys.PageDown):
		m.helpTop += 10
	case k.String() == "ctrl+c":
		return tea.Quit
	case key.Matches(k, m.keys.Help, m.keys.Clear, m.keys.Quit):
		m.helpOpen = false
	default:
		if do := m.action(k); do != nil {
			m.helpOpen = false
			return do()
		}
	}
	return nil
}
