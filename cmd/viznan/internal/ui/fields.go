package ui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/internal/report"
)

// fieldPane lists the fields in the order of the loop, each with its state in
// the selected env at the moment.
type fieldPane struct {
	*scene
	filter string
}

// shown returns the indexes of the fields that pass filter and faults.
func (p *fieldPane) shown() (list []int) {
	for i, f := range p.rec.Fields {
		if matches(f.Name+" "+string(f.Spec.Stage), p.filter) && (!p.faults || p.faulty(f)) {
			list = append(list, i)
		}
	}
	return list
}

// faulty reports whether a field ever goes bad or huge, or is a precursor, in
// the selected env.
func (p *fieldPane) faulty(f *recording.Field) bool {
	return f.Err != nil || len(p.rec.Stages(f, p.envID())) > 0
}

// View draws the list.
func (p *fieldPane) View(w, h int, focused bool) []string {
	list := p.shown()
	title := fmt.Sprintf("fields %d", len(p.rec.Fields))
	if len(list) < len(p.rec.Fields) {
		title = fmt.Sprintf("fields %d/%d", len(list), len(p.rec.Fields))
	}
	lines := []string{p.st.title(title+narrowed(p.filter, p.faults), w, focused)}
	if len(list) == 0 {
		return append(lines, p.st.Faint.Render(" none to show"))
	}
	top := window(slices.Index(list, p.spot.Field), len(list), h-1)
	for _, i := range list[top:min(top+max(h-1, 0), len(list))] {
		lines = append(lines, p.line(i, w))
	}
	return lines
}

// narrowed says in a title what keeps rows from being shown.
func narrowed(filter string, faults bool) (s string) {
	if faults {
		s = " faults"
	}
	if filter != "" {
		s += " /" + clean(filter)
	}
	return s
}

// line draws one field: "›✗ qacc      5/18 NaN@44".
func (p *fieldPane) line(i, w int) string {
	f := p.rec.Fields[i]
	st := p.state(f)
	selected := i == p.spot.Field
	return p.pointer(selected) + st.style.Render(st.glyph) + " " +
		p.row(selected, cell.Spread(f.Name, st.fitting(w-4-cell.Width(f.Name)), w-3), st.style)
}

// fieldState is how a field fares: its glyph at the moment, and in words what
// became of it, the longest text first.
type fieldState struct {
	glyph string
	texts []string
	style lipgloss.Style
}

// fitting returns the first text of at most w cells, else the shortest.
func (s fieldState) fitting(w int) string {
	for _, t := range s.texts {
		if cell.Width(t) <= w {
			return t
		}
	}
	if len(s.texts) == 0 {
		return ""
	}
	return s.texts[len(s.texts)-1]
}

// state judges a field in the selected env at the moment.
func (p *fieldPane) state(f *recording.Field) fieldState {
	t, trace := f.Track(false)
	switch {
	case !f.Loaded:
		return fieldState{"…", nil, p.st.Faint}
	case f.Err != nil:
		return fieldState{"?", []string{"not read"}, p.st.Warn}
	}
	row, inFile := t.Row(p.envID())
	frame, recorded := t.At(p.spot.Tick)
	stages := p.rec.Stages(f, p.envID())
	now := stageAt(stages, p.spot.Tick)
	texts := stageTexts(stages, now)
	switch {
	case !inFile:
		return fieldState{" ", []string{"no row"}, p.st.Faint}
	case !recorded:
		return fieldState{" ", texts, p.st.Faint}
	case t.Health(frame, row).Bad():
		if !trace {
			texts = counted(texts, fmt.Sprintf("%d/%d ", t.Tally(frame, row).Bad(), t.Cols()))
		}
		return fieldState{"✗", texts, p.st.BadText}
	case t.Health(frame, row)&recording.HasHuge != 0, slices.ContainsFunc(stages[:now+1], diagnosed):
		return fieldState{"!", texts, p.st.Warn}
	}
	return fieldState{"·", texts, p.st.Text}
}

func diagnosed(s recording.Stage) bool { return s.Diagnosed }

// stageAt returns the index of the last stage that has begun, -1 for none.
func stageAt(stages []recording.Stage, tick int64) int {
	now := -1
	for i, s := range stages {
		if s.Tick <= tick {
			now = i
		}
	}
	return now
}

// stageTexts says what became of a field and when: every stage; that which it
// is in (or the first to come) and the last; that one alone.
func stageTexts(stages []recording.Stage, now int) []string {
	if len(stages) == 0 {
		return nil
	}
	var all []string
	for _, s := range stages {
		all = append(all, fmt.Sprintf("%s@%d", clean(report.ClassName(s.Class)), s.Tick))
	}
	in, last := max(now, 0), len(all)-1
	texts := []string{strings.Join(all, " ")}
	if in < last {
		texts = append(texts, all[in]+" "+all[last])
	}
	return append(texts, all[in])
}

// counted puts a count before the texts, and drops it again where there is room
// for the bare text only.
func counted(texts []string, count string) (list []string) {
	for _, t := range texts {
		list = append(list, count+t)
	}
	return append(list, texts[len(texts)-1])
}

// move selects the field n rows on among those that are shown.
func (p *fieldPane) move(n int) {
	list := p.shown()
	if len(list) == 0 {
		return
	}
	i := slices.Index(list, p.spot.Field)
	if i < 0 {
		i, n = 0, 0
	}
	p.setField(list[clampIndex(i+n, len(list))])
}

// onset is where the selected field first went bad in the selected env.
func (p *fieldPane) onset() (recording.Spot, bool) {
	f := p.field()
	if f == nil {
		return recording.Spot{}, false
	}
	stages := p.rec.Stages(f, p.envID())
	if len(stages) == 0 {
		return recording.Spot{}, false
	}
	at := stages[0]
	if last := stages[len(stages)-1]; !last.Finite() {
		at = last
	}
	return recording.Spot{Field: -1, Env: -1, Col: -1, Tick: at.Tick}, true
}
