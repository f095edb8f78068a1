package ui

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/plot"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
)

// table is the widths of the parts of a line and what they show.
type table struct {
	view
	label, delta, spark int // cells; 0 for a part that is left out
	others              []recording.Env
	ref                 *view // compared with, nil when the change in time is shown
}

// The widths of the parts of a line.
const (
	pointerWidth  = 3 // pointer, mark, space
	deltaWidth    = 10
	minSpark      = 5
	maxSpark      = 40
	envWidth      = numberWidth + 2
	maxOtherEnvs  = 4
	minLabelWidth = 8
	maxLabelWidth = 32
)

// table shares w cells among the parts: what is left over by label and value
// goes to the change, to other envs, and to the history.
func (p *valuePane) table(v view, list []int, w int) table {
	t := table{view: v}
	longest := minLabelWidth
	for _, c := range list {
		longest = max(longest, cell.Width(p.field().Label(c, v.trace)))
	}
	room := max(w-pointerWidth-numberWidth-1, 0)
	spare := room - deltaWidth - 1
	if spare < minLabelWidth { // no change then: a name tells more
		spare = room
	}
	t.label = min(longest, maxLabelWidth, spare)
	room -= t.label
	if room > deltaWidth {
		t.delta, room = deltaWidth, room-deltaWidth-1
	}
	for _, e := range p.others(v) {
		if room < envWidth+2*minSpark || len(t.others) == maxOtherEnvs {
			break
		}
		t.others, room = append(t.others, e), room-envWidth
	}
	if room > minSpark {
		t.spark = min(room-1, maxSpark)
	}
	if ref, ok := p.compared(v); ok {
		t.ref = &ref
	}
	return t
}

// others returns the envs to show beside the selected one.
func (p *valuePane) others(v view) (list []recording.Env) {
	if !v.track.PerEnv() {
		return nil
	}
	for i, e := range p.rec.Envs {
		if i != p.spot.Env && !e.Missing {
			list = append(list, e)
		}
	}
	return list
}

// header names the parts.
func (t *table) header(s *scene) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", pointerWidth) + cell.Fit("column", t.label))
	b.WriteString(" " + cell.Right("value", numberWidth))
	if t.delta > 0 {
		name := "change"
		if e, ok := s.reference(); ok && t.ref != nil {
			name = fmt.Sprintf("- env %d", e.ID)
		}
		b.WriteString(" " + cell.Right(name, t.delta))
	}
	for _, e := range t.others {
		b.WriteString(cell.Right(fmt.Sprintf("env %d", e.ID), envWidth))
	}
	if t.spark > 0 {
		b.WriteString(" " + cell.Fit("history", t.spark))
	}
	return s.st.Faint.Render(b.String())
}

// line draws one column.
func (t *table) line(s *scene, c int) string {
	value := t.track.Value(t.frame, t.row, c)
	selected := c == s.spot.Col
	var b strings.Builder
	b.WriteString(s.pointer(selected) + s.mark(value, t.track.IsFloat()) + " ")
	b.WriteString(s.row(selected, cell.Fit(s.field().Label(c, t.trace), t.label), s.st.Text))
	b.WriteString(" " + s.value(value, t.track.IsFloat(), numberWidth))
	if t.delta > 0 {
		b.WriteString(" " + t.change(s, c, value))
	}
	for _, e := range t.others {
		v, _ := t.of(e)
		b.WriteString(strings.Repeat(" ", envWidth-numberWidth))
		b.WriteString(s.value(v.track.Value(v.frame, v.row, c), t.track.IsFloat(), numberWidth))
	}
	if t.spark > 0 {
		b.WriteString(" " + t.history(s, c))
	}
	return b.String()
}

// mark draws the sign of a value that is not ordinary.
func (s *scene) mark(v float64, isFloat bool) string {
	if m := plot.Mark(v); m != 0 {
		return s.st.BadText.Render(string(m))
	}
	if isFloat && math.Abs(v) >= recording.Huge {
		return s.st.Warn.Render("!")
	}
	return " "
}

// value draws a number; what is not finite fills its place as a block.
func (s *scene) value(v float64, isFloat bool, w int) string {
	style := s.st.Text
	text := number(v, isFloat)
	switch {
	case plot.Mark(v) != 0:
		style, text = s.st.Bad, text+" "
	case isFloat && math.Abs(v) >= recording.Huge:
		style = s.st.Warn
	}
	return style.Render(cell.Right(text, w))
}

// change draws the difference to the frame before, or to the env that is
// compared with.
func (t *table) change(s *scene, c int, value float64) string {
	if t.ref != nil {
		return s.difference(value, t.ref.track.Value(t.frame, t.ref.row, c), t.track.IsFloat())
	}
	if t.frame == 0 {
		return s.st.Faint.Render(cell.Right("first", t.delta))
	}
	return s.difference(value, t.track.Value(t.frame-1, t.row, c), t.track.IsFloat())
}

// difference draws v - base; where one of them is not finite, what became of
// it.
func (s *scene) difference(v, base float64, isFloat bool) string {
	bad, was := plot.Mark(v) != 0, plot.Mark(base) != 0
	text, style := "", s.st.Faint
	switch {
	case bad && was:
		text = "still"
	case bad:
		text, style = "went bad", s.st.BadText
	case was:
		text, style = "came back", s.st.Warn
	case v == base:
		text = "="
	default:
		text, style = signed(v-base, isFloat), s.st.Text
	}
	return style.Render(cell.Right(text, deltaWidth))
}

// signed writes a difference with its sign, in at most deltaWidth cells.
func signed(d float64, isFloat bool) string {
	if !isFloat {
		return fmt.Sprintf("%+.0f", d)
	}
	return fmt.Sprintf("%+.2g", d)
}

// history draws the frames up to this one.
func (t *table) history(s *scene, c int) string {
	from := max(t.frame+1-t.spark, 0)
	values := t.track.History(t.row, c, from, t.frame+1)
	scale, _ := plot.NewScale(plot.Auto, values)
	return strings.Repeat(" ", t.spark-len(values)) + paint([]rune(plot.Spark(scale, values)), func(i int, r rune) *lipgloss.Style {
		if plot.Mark(values[i]) != 0 {
			return &s.st.BadText
		}
		return &s.st.Accent
	})
}
