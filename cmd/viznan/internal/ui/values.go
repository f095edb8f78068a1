package ui

import (
	"fmt"
	"slices"

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
	case v.trace && f.Spec.PerEnv:
		text += " · trace over all envs"
	case v.trace:
		text += " · trace"
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
	case v.trace && p.field().Spec.PerEnv:
		text = " counts and extremes of the finite values of every env"
	case v.trace:
		text = " counts and extremes of the finite values"
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
