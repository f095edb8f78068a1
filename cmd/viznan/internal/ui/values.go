package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/plot"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
)

// valuePane shows one row of one frame: a line per column with its value, its
// change and its history.
type valuePane struct {
	*scene
	filter string
}

// View draws the table.
func (p *valuePane) View(w, h int, focused bool) []string {
	v, why, ok := p.view()
	lines := []string{p.st.title(p.title(v, ok), w, focused)}
	if !ok {
		return append(lines, p.st.hang(" ", clean(why), w, p.st.Warn)...)
	}
	list := p.columns(v)
	t := p.table(v, list, w)
	if h >= 9 {
		lines = append(lines, p.summary(v, len(list)))
	}
	if h >= 4 {
		lines = append(lines, t.header(p.scene))
	}
	if len(list) == 0 {
		return append(lines, p.st.Faint.Render(" no column to show"))
	}
	rows := h - len(lines)
	top := window(slices.Index(list, p.spot.Col), len(list), rows)
	for _, c := range list[top:min(top+max(rows, 0), len(list))] {
		lines = append(lines, t.line(p.scene, c))
	}
	return lines
}

// title names the field, the row and the moment.
func (p *valuePane) title(v view, ok bool) string {
	f := p.field()
	if f == nil {
		return "values"
	}
	text := f.Name + narrowed(p.filter, p.faults)
	switch {
	case !ok:
		return text
	case v.trace:
		text += " · trace over all envs"
	case v.track.PerEnv():
		text += fmt.Sprintf(" · env %d", p.envID())
	}
	text += " · " + p.clock(f, v.track, v.frame)
	if late := p.spot.Tick - v.track.Tick(v.frame); late > 0 {
		text += fmt.Sprintf(" · as of tick %d", v.track.Tick(v.frame))
	}
	return text
}

// summary describes the whole row, filter or not.
func (p *valuePane) summary(v view, shown int) string {
	n := v.track.Cols()
	text := " " + tallyText(v.track.Tally(v.frame, v.row), n)
	style := p.st.Faint
	switch {
	case v.trace:
		text = " counts and extremes of the finite values of every env"
	case v.track.Health(v.frame, v.row).Bad():
		style = p.st.BadText
	}
	if shown < n {
		text += fmt.Sprintf(" · %d shown", shown)
	}
	if p.sort != sortLoop {
		text += " · " + p.sort.String()
	}
	return style.Render(text)
}

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
	t.label = min(longest, maxLabelWidth, max(room-deltaWidth-1, minLabelWidth), room)
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
	b.WriteString(s.pointer(selected) + s.mark(value) + " ")
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
func (s *scene) mark(v float64) string {
	if m := plot.Mark(v); m != 0 {
		return s.st.BadText.Render(string(m))
	}
	if math.Abs(v) >= recording.Huge {
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

// move selects the column n rows on among those that are shown.
func (p *valuePane) move(n int) {
	v, _, ok := p.view()
	if !ok {
		return
	}
	list := p.columns(v)
	if len(list) == 0 {
		return
	}
	i := slices.Index(list, p.spot.Col)
	if i < 0 {
		i, n = 0, 0
	}
	p.spot.Col = list[clampIndex(i+n, len(list))]
}

// onset is where the selected column first went bad or huge.
func (p *valuePane) onset() (recording.Spot, bool) {
	v, _, ok := p.view()
	if !ok || p.spot.Col < 0 || p.spot.Col >= v.track.Cols() {
		return recording.Spot{}, false
	}
	frame := p.faultsOf(v)[p.spot.Col]
	if frame < 0 {
		return recording.Spot{}, false
	}
	return recording.Spot{Field: -1, Env: -1, Col: -1, Tick: v.track.Tick(frame)}, true
}
