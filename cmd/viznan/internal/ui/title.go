package ui

import (
	"strings"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
)

// title draws the first line of a pane: a thin rule, a thick one in focus, so
// that the focus shows without colour.
func (st *Styles) title(text string, w int, focused bool) string {
	rule, style := "─", st.Title
	if focused {
		rule, style = "━", st.TitleFocus
	}
	head := cell.Cut(rule+" "+text+" ", w)
	return style.Render(head + strings.Repeat(rule, max(w-cell.Width(head), 0)))
}

// window returns the first of h rows to show of n, so that the cursor is in the
// middle where it can be.
func window(cursor, n, h int) int {
	return min(max(cursor-h/2, 0), max(n-h, 0))
}

// matches reports whether text holds every word of the filter, whatever the
// case; a word behind "!" must not be there.
func matches(text, filter string) bool {
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if not, ok := strings.CutPrefix(word, "!"); ok && not != "" {
			if strings.Contains(text, not) {
				return false
			}
		} else if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
