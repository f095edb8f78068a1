package report

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nanguard/nanguard/internal/safetext"
)

// styleFunc dresses one line.
type styleFunc func(string) string

// styles are the few looks of a report; without colour all are the identity.
type styles struct{ plain, bold, dim, good, warn, bad, head styleFunc }

// newStyles uses the terminal's own sixteen colours, which its owner has made
// readable on its background.
func newStyles(color bool) styles {
	plain := func(s string) string { return s }
	if !color {
		return styles{plain, plain, plain, plain, plain, plain, plain}
	}
	look := func(s lipgloss.Style) styleFunc { return func(t string) string { return s.Render(t) } }
	fg := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{
		plain: plain, bold: look(lipgloss.NewStyle().Bold(true)), dim: look(lipgloss.NewStyle().Faint(true)),
		good: look(fg("2")), warn: look(fg("3")), bad: look(fg("1").Bold(true)), head: look(fg("6").Bold(true)),
	}
}

// head prints the heading of a section.
func (p *printer) head(s string) {
	p.b.WriteString("\n" + p.st.head(strings.ToUpper(s)) + "\n")
}

// wrap prints text behind a first indent, broken at words so that no line is
// wider than the report; further lines get the rest indent. The text may come
// from the dump and is made harmless here.
func (p *printer) wrap(first, rest, text string, style styleFunc) {
	room := max(p.width-max(ansi.StringWidth(first), ansi.StringWidth(rest)), 16)
	for i, line := range strings.Split(ansi.Wrap(safetext.Line(text), room, " "), "\n") {
		indent := rest
		if i == 0 {
			indent = first
		}
		line = strings.TrimRight(line, " ")
		p.b.WriteString(style(indent+line) + "\n")
	}
}
