package ui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
)

// hang breaks text into lines of w cells behind a head; further lines are
// indented as far.
func (st *Styles) hang(head, text string, w int, style lipgloss.Style) []string {
	indent := cell.Width(head)
	lines := cell.Wrap(text, w-indent)
	for i, l := range lines {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		lines[i] = style.Render(head + l)
	}
	return lines
}
