package ui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/plot"
)

// chartPane plots the selected column over all frames of its field.
type chartPane struct {
	*scene
	scale plot.Kind
}

// axisWidth is the width of the numbers beside the plot.
const axisWidth = numberWidth + 1

// View draws the plot with its axes.
func (p *chartPane) View(w, h int) []string {
	v, _, ok := p.view()
	if !ok || p.spot.Col < 0 || p.spot.Col >= v.track.Cols() {
		return []string{p.st.title("plot", w, false)}
	}
	c := plot.Chart{Values: v.track.History(v.row, p.spot.Col, 0, v.track.Len()), Cursor: v.frame}
	if ref, ok := p.compared(v); ok {
		c.Second = ref.track.History(ref.row, p.spot.Col, 0, ref.track.Len())
	}
	var finite bool
	c.Scale, finite = plot.NewScale(p.scale, c.Values, c.Second)
	lines := []string{p.st.title(p.title(v, c.Scale), w, false)}
	width := w - axisWidth
	for i, row := range c.Draw(width, h-2) {
		label := ""
		if finite {
			label = axisLabel(c.Scale, i, h-2, v.track.IsFloat())
		}
		lines = append(lines, p.st.Faint.Render(cell.Right(label, numberWidth)+" ")+p.ink(row))
	}
	return append(lines, strings.Repeat(" ", axisWidth)+p.axis(v, width))
}

// title names the column and the scale.
func (p *chartPane) title(v view, s plot.Scale) string {
	text := "plot " + p.field().Label(p.spot.Col, v.trace) + " · " + s.Kind.String()
	if e, ok := p.reference(); ok && v.track.PerEnv() {
		text += fmt.Sprintf(" · with env %d", e.ID)
	}
	return text + fmt.Sprintf(" · frame %d of %d", v.frame+1, v.track.Len())
}

// axisLabel labels the top, the middle and the bottom of the plot.
func axisLabel(s plot.Scale, row, rows int, isFloat bool) string {
	switch {
	case row == 0:
		return number(s.Hi, isFloat)
	case row == rows-1:
		return number(s.Lo, isFloat)
	case rows >= 5 && row == rows/2:
		return number(s.ValueAt(1-(float64(row)+0.5)/float64(rows)), true)
	}
	return ""
}

// ink dresses a row of the plot.
func (p *chartPane) ink(row []plot.Cell) string {
	styles := [...]*lipgloss.Style{
		plot.None: &p.st.Text, plot.Line: &p.st.Accent, plot.Second: &p.st.Second,
		plot.Bad: &p.st.BadText, plot.Cursor: &p.st.Cursor,
	}
	text := make([]rune, len(row))
	for i, c := range row {
		text[i] = c.Rune
	}
	return paint(text, func(i int, _ rune) *lipgloss.Style { return styles[row[i].Ink] })
}

// axis labels the first, the last and the shown frame with their ticks.
func (p *chartPane) axis(v view, w int) string {
	n := v.track.Len()
	return p.st.axis(w, v.track.Tick(0), v.track.Tick(n-1), v.track.Tick(v.frame), plot.Column(v.frame, n, w))
}

// axis draws the line under a plot: the first and the last tick at the ends,
// and the moment that is shown under its column.
func (st *Styles) axis(w int, first, last, now int64, column int) string {
	here := fmt.Sprintf("^%d", now)
	if column+len(here) > w { // the number to the left of the mark
		here = fmt.Sprintf("%d^", now)
		column = max(column-len(here)+1, 0)
	}
	left, right := fmt.Sprint(first), fmt.Sprint(last)
	if len(left) >= column {
		left = ""
	}
	if len(right) >= w-column-len(here) {
		right = ""
	}
	return st.Faint.Render(cell.Fit(left, column)) + st.Cursor.Render(here) +
		st.Faint.Render(cell.Right(right, max(w-column-len(here), 0)))
}
