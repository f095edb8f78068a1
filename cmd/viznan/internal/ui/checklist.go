package ui

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/rootcause"
)

// checkPane shows the rows of the priority table, the selected one in full
// below.
type checkPane struct {
	*scene
	cursor int
}

// View draws the table: with room for it, every row has its evidence below;
// else the evidence stands beside, and the selected row in full at the end.
func (p *checkPane) View(w, h int, focused bool) []string {
	lines := []string{p.st.title("checklist"+p.score(), w, focused)}
	if p.rec.Diagnosis == nil || len(p.rec.Diagnosis.Checklist) == 0 {
		return lines
	}
	list := p.rec.Diagnosis.Checklist
	if spare := h - 1 - 2*len(list); spare >= 0 {
		return append(lines, p.tall(list, w, spare)...)
	}
	c := &list[clampIndex(p.cursor, len(list))]
	detail := append(p.st.hang("   ", c.Check+": "+c.Evidence, w, p.st.Text), p.fix(c, w)...)
	rows := min(len(list), max(h-1-len(detail), minCheckRows), h-1)
	top := window(p.cursor, len(list), rows)
	for i := top; i < top+rows; i++ {
		lines = append(lines, p.line(i, w, true))
	}
	return append(lines, detail...)
}

// minCheckRows is how many rows stay in sight however long the selected one is.
const minCheckRows = 3

// tall gives every row a second line for its evidence, and the selected one as
// many more as are spare.
func (p *checkPane) tall(list []rootcause.Check, w, spare int) (lines []string) {
	for i := range list {
		c := &list[i]
		lines = append(lines, p.line(i, w, false))
		below := p.st.hang("     ", c.Evidence, w, p.st.Faint)
		room := 1
		if i == p.cursor {
			below, room = append(below, p.fix(c, w)...), 1+spare
		}
		lines = append(lines, below[:min(room, len(below))]...)
	}
	return lines
}

// score counts the rows by status.
func (p *checkPane) score() string {
	if p.rec.Diagnosis == nil {
		return ""
	}
	n := map[rootcause.Status]int{}
	for _, c := range p.rec.Diagnosis.Checklist {
		n[c.Status]++
	}
	return fmt.Sprintf(" · %d implicated, %d cleared, %d unknown", n[rootcause.Implicated], n[rootcause.Cleared], n[rootcause.Unknown])
}

// status returns the glyph and the style of a status.
func (p *checkPane) status(s rootcause.Status) (string, lipgloss.Style) {
	switch s {
	case rootcause.Implicated:
		return "✗", p.st.BadText
	case rootcause.Cleared:
		return "✓", p.st.Good
	}
	return "?", p.st.Faint
}

// checkWidth is the room for a row's check where the evidence stands beside it.
const checkWidth = 28

// line draws one row: "›✗ IMPLICATED  5 timestep too large  0.02 s".
func (p *checkPane) line(i, w int, evidence bool) string {
	c := &p.rec.Diagnosis.Checklist[i]
	glyph, style := p.status(c.Status)
	head := fmt.Sprintf("%s %-11s %2d ", glyph, clean(string(c.Status)), c.Row)
	text := c.Check
	if room := w - cell.Width(head) - 1; evidence && room > checkWidth+10 {
		text = cell.Fit(c.Check, checkWidth) + " " + cell.Cut(c.Evidence, room-checkWidth-1)
	}
	return p.pointer(i == p.cursor) + style.Render(head) + p.row(i == p.cursor, text, p.st.Text)
}

// fix draws what helps against a row that is not cleared.
func (p *checkPane) fix(c *rootcause.Check, w int) []string {
	if c.Fix == "" || c.Status == rootcause.Cleared {
		return nil
	}
	return p.st.hang("     fix: ", c.Fix, w, p.st.Good)
}

// move selects the row n rows on.
func (p *checkPane) move(n int) {
	if d := p.rec.Diagnosis; d != nil {
		p.cursor = clampIndex(p.cursor+n, len(d.Checklist))
	}
}

// onset is where the evidence of the selected row's cause was seen.
func (p *checkPane) onset() (recording.Spot, bool) {
	d := p.rec.Diagnosis
	if d == nil || p.cursor < 0 || p.cursor >= len(d.Checklist) {
		return recording.Spot{}, false
	}
	for i := range d.Causes {
		if d.Causes[i].ID == d.Checklist[p.cursor].Cause {
			return p.evidence(&d.Causes[i])
		}
	}
	return recording.Spot{}, false
}
