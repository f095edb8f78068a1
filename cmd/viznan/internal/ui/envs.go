package ui

import (
	"fmt"
	"slices"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/dump"
)

// envPane lists the envs, culprits first.
type envPane struct{ *scene }

// View draws the list.
func (p envPane) View(w, h int, focused bool) []string {
	lines := []string{p.st.title(fmt.Sprintf("envs %d/%d", p.inFile(), max(p.rec.NumEnvs, p.inFile())), w, focused)}
	rows := p.rows()
	if len(rows) == 0 {
		return append(lines, p.st.Faint.Render(" no env in the file"))
	}
	top := window(slices.Index(rows, p.spot.Env), len(rows), h-1)
	for _, i := range rows[top:min(top+max(h-1, 0), len(rows))] {
		if i == foldedRow {
			lines = append(lines, p.folded(w))
		} else {
			lines = append(lines, p.line(i, w))
		}
	}
	return lines
}

// foldedRow stands among the rows for the bad envs that have none of their own.
const foldedRow = -1

// rows returns the indexes of the envs in the order of the list.
func (p envPane) rows() (rows []int) {
	for i := range p.rec.Envs {
		rows = append(rows, i)
	}
	if u := p.rec.Unlisted; len(u.IDs) > 0 {
		rows = slices.Insert(rows, u.Place, foldedRow)
	}
	return rows
}

// folded counts, in one line that cannot be selected, the bad envs that are
// not in the file.
func (p envPane) folded(w int) string {
	n, more := len(p.rec.Unlisted.IDs), "more "
	if p.rec.Unlisted.Place == 0 {
		more = ""
	}
	text := fmt.Sprintf("%d %sbad envs, not in file", n, more)
	if cell.Width(text)+3 > w {
		text = fmt.Sprintf("%d bad, not in file", n)
	}
	return p.st.Warn.Render(cell.Fit("   "+text, w))
}

// inFile counts the envs whose rows are in the file.
func (p envPane) inFile() (n int) {
	for _, e := range p.rec.Envs {
		if !e.Missing {
			n++
		}
	}
	return n
}

// line draws one env: "›✗ 14 culprit    bad @44".
func (p envPane) line(i, w int) string {
	e := p.rec.Envs[i]
	glyph, ok := roleGlyphs[e.Role]
	if !ok {
		glyph = " "
	}
	style, state := p.st.Text, ""
	switch {
	case e.Missing:
		style, state = p.st.Warn, "not in file"
	case e.Bad && e.Role == dump.RoleControl: // well when it was chosen: it fell victim
		style, state = p.st.Warn, fmt.Sprintf("bad @%d", e.FirstBad)
	case e.Bad:
		style, state = p.st.BadText, fmt.Sprintf("bad @%d", e.FirstBad)
	}
	name := fmt.Sprintf("%d %s", e.ID, clean(string(e.Role)))
	return p.pointer(i == p.spot.Env) + style.Render(glyph) + " " +
		p.row(i == p.spot.Env, cell.Spread(name, state, w-3), style)
}

// pointer draws the mark of the selected row.
func (s *scene) pointer(selected bool) string {
	if selected {
		return s.st.Cursor.Render("›")
	}
	return " "
}

// row dresses the text of a list row.
func (s *scene) row(selected bool, text string, style lipgloss.Style) string {
	if selected {
		return s.st.Selected.Render(text)
	}
	return style.Render(text)
}

// move selects the env n rows on.
func (p envPane) move(n int) {
	p.spot.Env = clampIndex(p.spot.Env+n, len(p.rec.Envs))
}

// onset is the tick at which the selected env first went bad.
func (p envPane) onset() (recording.Spot, bool) {
	e, ok := p.env()
	return recording.Spot{Field: -1, Env: -1, Col: -1, Tick: e.FirstBad}, ok && e.Bad
}

// clampIndex holds i among n rows; -1 when there is none.
func clampIndex(i, n int) int { return max(min(i, n-1), min(0, n-1)) }
