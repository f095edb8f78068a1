package ui

import "charm.land/lipgloss/v2"

// paint dresses characters, each run of one style at once.
func paint(text []rune, style func(i int, r rune) *lipgloss.Style) string {
	out, from := "", 0
	for i := range text {
		if st := style(i, text[i]); i+1 == len(text) || style(i+1, text[i+1]) != st {
			out += st.Render(string(text[from : i+1]))
			from = i + 1
		}
	}
	return out
}
