package ui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
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

// faulty reports whether a field ever goes bad, or is a precursor, in the
// selected env.
func (p *fieldPane) faulty(f *recording.Field) bool {
	_, bad := fieldOnset(f, p.envID())
	_, _, pre := p.precursor(f, p.envID())
	return bad || pre || f.Err != nil
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

// line draws one field: "›✗ qacc      5/18 @44".
func (p *fieldPane) line(i, w int) string {
	f := p.rec.Fields[i]
	st := p.state(f)
	selected := i == p.spot.Field
	return p.pointer(selected) + st.style.Render(st.glyph) + " " +
		p.row(selected, cell.Spread(f.Name, st.text, w-3), st.style)
}

// fieldState is how a field fares at the moment.
type fieldState struct {
	glyph, text string
	style       lipgloss.Style
}

// state judges a field in the selected env at the moment: how many of its
// values are bad now, and when it went or will go bad.
func (p *fieldPane) state(f *recording.Field) fieldState {
	t, trace := f.Track(false)
	switch {
	case !f.Loaded:
		return fieldState{"…", "", p.st.Faint}
	case f.Err != nil:
		return fieldState{"?", "not read", p.st.Warn}
	}
	row, inFile := t.Row(p.envID())
	frame, recorded := t.At(p.spot.Tick)
	switch {
	case !inFile:
		return fieldState{" ", "no row", p.st.Faint}
	case !recorded:
		return fieldState{" ", p.when(f), p.st.Faint}
	case t.Health(frame, row).Bad() && trace:
		return fieldState{"✗", p.when(f), p.st.BadText}
	case t.Health(frame, row).Bad():
		text := fmt.Sprintf("%d/%d %s", t.Tally(frame, row).Bad(), t.Cols(), p.when(f))
		return fieldState{"✗", text, p.st.BadText}
	}
	if tick, class, ok := p.precursor(f, p.envID()); ok && p.spot.Tick >= tick {
		return fieldState{"!", fmt.Sprintf("%s @%d", clean(class), tick), p.st.Warn}
	}
	if t.Health(frame, row)&recording.HasHuge != 0 {
		return fieldState{"!", strings.TrimSpace("huge " + p.when(f)), p.st.Warn}
	}
	return fieldState{"·", p.when(f), p.st.Text}
}

// when says at which tick a field goes bad.
func (p *fieldPane) when(f *recording.Field) string {
	if tick, ok := fieldOnset(f, p.envID()); ok {
		return fmt.Sprintf("@%d", tick)
	}
	return ""
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
	tick, ok := fieldOnset(f, p.envID())
	if !ok {
		tick, _, ok = p.precursor(f, p.envID())
	}
	return recording.Spot{Field: -1, Env: -1, Col: -1, Tick: tick}, ok
}
