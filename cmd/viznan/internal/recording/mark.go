package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/report"
	"github.com/nanguard/nanguard/rootcause"
)

// MarkKind says what a mark stands for.
type MarkKind uint8

// The kinds of mark, the most telling last.
const (
	RoutineMark MarkKind = iota // a reset or the start of an episode: there may be hundreds
	EventMark
	PrecursorMark // a field is huge, growing or negative, still finite
	OnsetMark     // a field's first non-finite value
)

// Mark is a moment to jump to.
type Mark struct {
	Tick  int64
	Kind  MarkKind
	Glyph rune
	Text  string
	Envs  []int // envs of the file that it touches
	All   bool  // it touches the run as a whole
}

// Touches reports whether the mark concerns the env.
func (m Mark) Touches(env int) bool { return m.All || slices.Contains(m.Envs, env) }

// The glyphs of marks that are no events.
const (
	OnsetGlyph     = '✗'
	PrecursorGlyph = '!'
	unknownGlyph   = '•'
)

// EventGlyphs gives each kind of event its letter on the timeline, small where
// it touches other envs than the one that is shown.
var EventGlyphs = []struct {
	Kind  string
	Glyph rune
}{
	{dump.EventReset, 'R'},
	{dump.EventEpisodeStart, 'E'},
	{dump.EventGraphCapture, 'G'},
	{dump.EventGraphReplay, 'P'},
	{dump.EventBufferMoved, 'B'},
	{dump.EventDR, 'D'},
	{dump.EventCapacity, 'C'},
	{dump.EventWarning, 'W'},
	{dump.EventAMP, 'A'},
	{dump.EventCheckpointLoaded, 'L'},
	{dump.EventCurriculum, 'U'},
	{dump.EventNaNReplaced, 'Z'},
	{dump.EventNote, 'N'},
}

// glyph returns the letter of a kind of event.
func glyph(kind string) rune {
	for _, g := range EventGlyphs {
		if g.Kind == kind {
			return g.Glyph
		}
	}
	return unknownGlyph
}

// mark makes the marks anew: events, onsets and precursors.
func (r *Recording) mark() {
	r.Marks = r.Marks[:0]
	for _, e := range r.manifest.Events {
		r.Marks = append(r.Marks, eventMark(e))
	}
	r.markOnsets()
	r.markPrecursors()
	slices.SortStableFunc(r.Marks, func(a, b Mark) int { return cmp.Compare(a.Tick, b.Tick) })
}

// eventMark turns an event into a mark. One that names no env and counts none
// concerns the run.
func eventMark(e dump.Event) Mark {
	m := Mark{Tick: e.Tick, Kind: EventMark, Glyph: glyph(e.Kind), Envs: e.Envs, All: len(e.Envs) == 0 && e.Count == 0}
	if e.Kind == dump.EventReset || e.Kind == dump.EventEpisodeStart {
		m.Kind = RoutineMark
	}
	text := e.Kind
	if e.Name != "" {
		text += " " + e.Name
	}
	switch {
	case e.Count > 1:
		text += fmt.Sprintf(" (%d envs)", e.Count)
	case len(e.Envs) == 1:
		text += fmt.Sprintf(" (env %d)", e.Envs[0])
	}
	if s, ok := e.Detail.(string); ok && s != "" {
		text += ": " + s
	}
	m.Text = cell.Clean(strings.TrimSpace(text))
	return m
}

// markOnsets marks where each field first went bad: as the manifest says, over
// all envs of the run, and otherwise as the frames show.
func (r *Recording) markOnsets() {
	told := map[string]bool{}
	for _, b := range r.manifest.FirstBad {
		told[b.Field] = true
		r.addOnset(OnsetMark, OnsetGlyph, b.Tick, b.Field, report.ClassName(b.Class), b.Env)
	}
	for _, f := range r.Fields {
		if o, ok := f.firstOnset(); ok && !told[f.Spec.Name] {
			r.addOnset(OnsetMark, OnsetGlyph, o.tick, f.Spec.Name, report.ClassName(f.Frames.class(o.frame, o.row)), o.env)
		}
	}
}

// markPrecursors marks what the diagnosis saw before the first bad value.
func (r *Recording) markPrecursors() {
	if r.Diagnosis == nil {
		return
	}
	for _, o := range r.Diagnosis.Order {
		if Precursor(o) {
			r.addOnset(PrecursorMark, PrecursorGlyph, o.Tick, o.Field, o.Class, o.Env)
		}
	}
}

// addOnset adds the mark of one field.
func (r *Recording) addOnset(k MarkKind, g rune, tick int64, field, class string, env *int) {
	m := Mark{Tick: tick, Kind: k, Glyph: g, Text: cell.Clean(field + " " + class), All: env == nil}
	if env != nil {
		m.Envs = []int{*env}
		m.Text += fmt.Sprintf(" (env %d)", *env)
	}
	r.Marks = append(r.Marks, m)
}

// Precursor reports whether an onset is of finite values.
func Precursor(o rootcause.Onset) bool { return finiteClass(o.Class) }

// finiteClass reports whether a class is of finite values.
func finiteClass(class string) bool {
	switch class {
	case "nan", "posinf", "neginf":
		return false
	}
	return true
}

// onset is where the frames of a field first hold a bad value.
type onset struct {
	tick       int64
	env        *int
	frame, row int
}

// firstOnset returns the earliest onset over the rows of a field.
func (f *Field) firstOnset() (first onset, ok bool) {
	t := f.Frames
	if t == nil {
		return onset{}, false
	}
	for row := range t.rows {
		i, bad := t.Onset(row)
		if !bad || ok && t.Tick(i) >= first.tick {
			continue
		}
		first, ok = onset{tick: t.Tick(i), frame: i, row: row}, true
		if t.envIDs != nil {
			first.env = &t.envIDs[row]
		}
	}
	return first, ok
}

// Next returns the tick of the next mark after tick that concerns the env, or
// before it when dir is negative. ok is false when there is none.
func (r *Recording) Next(tick int64, dir, env int) (to int64, ok bool) {
	for _, m := range r.Marks {
		if !m.Touches(env) {
			continue
		}
		if dir > 0 && m.Tick > tick {
			return m.Tick, true
		}
		if dir < 0 && m.Tick < tick {
			to, ok = m.Tick, true
		}
	}
	return to, ok
}
