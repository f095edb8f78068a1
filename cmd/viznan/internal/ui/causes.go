package ui

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/plot"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/internal/report"
	"github.com/nanguard/nanguard/rootcause"
)

// causePane shows the ranking: a bar per cause, the selected one with its
// evidence and fix; below it what to do next and what is doubtful.
type causePane struct {
	*scene
	cursor int
	scroll int   // lines of the selected block that are above the pane
	err    error // why there is no diagnosis
}

// The cells of a cause's bar and of its probability.
const (
	barWidth     = 10
	percentWidth = 6
)

// View draws as many blocks as fit, the selected one among them.
func (p *causePane) View(w, h int, focused bool) []string {
	d := p.rec.Diagnosis
	if d == nil {
		text, style := "diagnosing …", p.st.Faint
		if p.err != nil {
			text, style = "no diagnosis: "+clean(p.err.Error()), p.st.Warn
		}
		return append([]string{p.st.title("causes", w, focused)}, p.st.hang(" ", text, w, style)...)
	}
	title := fmt.Sprintf("causes · %s of the evidence is in the dump", report.Percent(d.Coverage))
	lines := []string{p.st.title(title, w, focused)}
	body, at := p.blocks(w, h-1)
	top := min(at+p.scroll, max(len(body)-(h-1), 0))
	return append(lines, p.cutBelow(body[top:], h-1)...)
}

// cutBelow returns the lines that fit, the last one saying how many do not.
func (p *causePane) cutBelow(lines []string, h int) []string {
	if len(lines) <= h || h < 2 {
		return lines
	}
	more := fmt.Sprintf("  ↓ %d more lines", len(lines)-h+1)
	return append(lines[:h-1:h-1], p.st.Faint.Render(more))
}

// blocks lays everything out and says at which line the selected block starts.
// With room for all, every likely cause is open; else the selected one only.
func (p *causePane) blocks(w, h int) (lines []string, at int) {
	if lines, at = p.layout(w, true); len(lines) > h {
		lines, at = p.layout(w, false)
	}
	return lines, at
}

// openShare is the probability from which a cause is opened where there is
// room.
const openShare = 0.05

func (p *causePane) layout(w int, open bool) (lines []string, at int) {
	for i := range p.rec.Diagnosis.Causes {
		if i == p.cursor {
			at = len(lines)
		}
		c := &p.rec.Diagnosis.Causes[i]
		lines = append(lines, p.head(i, w))
		if i == p.cursor || open && c.Probability >= openShare {
			lines = append(lines, p.cause(c, w)...)
		}
	}
	extra := p.extra(w)
	if len(p.rec.Diagnosis.Causes) == 0 {
		lines = append(lines, p.st.Good.Render(" nothing to explain"))
	}
	if p.cursor >= len(p.rec.Diagnosis.Causes) {
		at = len(lines)
	}
	return append(lines, extra...), at
}

// head draws the line of a cause: "›contact-divergence  ████▌      45 %".
func (p *causePane) head(i, w int) string {
	c := &p.rec.Diagnosis.Causes[i]
	style := p.st.Text
	if i == 0 {
		style = p.st.Bold
	}
	right := plot.Bar(c.Probability, barWidth) + cell.Right(report.Percent(c.Probability), percentWidth)
	return p.pointer(i == p.cursor) + p.row(i == p.cursor, cell.Fit(c.ID, w-2-cell.Width(right)), style) + " " + p.st.Accent.Render(right)
}

// cause draws what stands under an open cause.
func (p *causePane) cause(c *rootcause.Hypothesis, w int) (lines []string) {
	add := func(head, text string, style lipgloss.Style) {
		lines = append(lines, p.st.hang(head, text, w, style)...)
	}
	add("  ", c.Title, p.st.Faint)
	for _, e := range c.Evidence {
		if e.Weight < 0 {
			add("  - ", e.Text, p.st.Faint)
		} else {
			add("  + ", e.Text, p.st.Text)
		}
	}
	if c.Fix != "" {
		add("  fix: ", c.Fix, p.st.Good)
	}
	return lines
}

// extra draws what stands under the ranking.
func (p *causePane) extra(w int) (lines []string) {
	for i, a := range p.rec.Diagnosis.Next {
		if i == 0 {
			lines = append(lines, p.st.Bold.Render(" do next"))
		}
		lines = append(lines, p.st.hang(fmt.Sprintf("  %d. ", i+1), a.Text, w, p.st.Text)...)
	}
	for i, text := range p.rec.Warnings() {
		if i == 0 {
			lines = append(lines, p.st.Bold.Render(" doubts"))
		}
		lines = append(lines, p.st.hang("  ! ", text, w, p.st.Warn)...)
	}
	return lines
}

// move goes n rows on in a pane of w x h cells: through the selected block
// while some of it is out of sight, then to the next one. One place behind the
// last cause stands for what follows the ranking.
func (p *causePane) move(n, w, h int) {
	if p.rec.Diagnosis == nil {
		return
	}
	if to := p.scroll + n; n > 0 && p.scroll < p.hidden(w, h) || n < 0 && p.scroll > 0 {
		p.scroll = min(max(to, 0), p.hidden(w, h))
		return
	}
	p.cursor = clampIndex(p.cursor+n, len(p.rec.Diagnosis.Causes)+1)
	p.scroll = 0
}

// hidden counts the lines of the selected block that a pane has no room for,
// beside its title and the line that says so.
func (p *causePane) hidden(w, h int) int {
	lines := len(p.extra(w))
	if causes := p.rec.Diagnosis.Causes; p.cursor < len(causes) {
		lines = 1 + len(p.cause(&causes[p.cursor], w))
	}
	return max(lines-(h-2), 0)
}

// onset is where the first evidence of the selected cause was seen.
func (p *causePane) onset() (recording.Spot, bool) {
	d := p.rec.Diagnosis
	if d == nil || p.cursor >= len(d.Causes) {
		return recording.Spot{}, false
	}
	return p.evidence(&d.Causes[p.cursor])
}

// evidence is the place of the first evidence that names one.
func (s *scene) evidence(c *rootcause.Hypothesis) (recording.Spot, bool) {
	for _, e := range c.Evidence {
		if spot, ok := s.rec.EvidenceSpot(e); ok {
			return spot, true
		}
	}
	return recording.Spot{}, false
}
