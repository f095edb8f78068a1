package ui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/internal/report"
	"github.com/nanguard/nanguard/rootcause"
)

// headerPane says which file this is, what the verdict is, and what went bad
// first.
type headerPane struct{ *scene }

// View draws up to two lines.
func (p headerPane) View(w, h int) []string {
	text, style := p.verdict()
	badge := style.Render(cell.Cut(" "+text+" ", w))
	room := max(w-cell.Width(badge), 0)
	lines := []string{p.file(room) + badge}
	if h > 1 {
		lines = append(lines, p.trip(w))
	}
	return lines
}

// file names the file and who wrote it in w cells, the file first.
func (p headerPane) file(w int) string {
	name := cell.Tail(p.rec.Name, w-2)
	rest := " · " + p.rec.Producer
	if p.rec.NumEnvs > 0 {
		rest += " · " + count(p.rec.NumEnvs, "env")
	}
	room := w - 1 - cell.Width(name)
	if room < 8 { // not worth a beginning
		rest = ""
	}
	return " " + p.st.Bold.Render(name) + p.st.Faint.Render(cell.Fit(rest, room))
}

// verdict is the answer in a few words.
func (p headerPane) verdict() (string, lipgloss.Style) {
	d := p.rec.Diagnosis
	switch {
	case d == nil:
		return "no verdict yet", p.st.Faint
	case d.Verdict == rootcause.Clean:
		return "clean: nothing wrong", p.st.Good
	case len(d.Causes) == 0 || d.Causes[0].ID == rootcause.UnknownCause:
		return "cause unknown", p.st.Warn
	}
	first := d.Causes[0].ID + " " + report.Percent(d.Causes[0].Probability)
	switch d.Verdict {
	case d.Causes[0].ID:
		return first, p.st.Bad
	case rootcause.UnknownCause:
		return "unknown; perhaps " + first, p.st.Warn
	}
	return d.Verdict, p.st.Bad
}

// trip says what went bad first, and where it began when that is elsewhere.
func (p headerPane) trip(w int) string {
	first, root := p.rec.Trip(), p.root()
	var style lipgloss.Style
	var texts []string // the longest first
	switch {
	case first != nil && root != nil:
		style = p.st.BadText
		texts = []string{
			"first " + place(first) + moment(first) + "; began: " + place(root) + moment(root),
			"first " + place(first) + "; began: " + place(root),
			brieflyAt(first) + "; began: " + brieflyAt(root) + otherEnv(root, first),
			barely(first) + "; began: " + brieflyAt(root) + otherEnv(root, first),
			barely(first) + "; began: " + barely(root) + otherEnv(root, first),
			brieflyAt(first),
		}
	case first != nil:
		style, texts = p.st.BadText, []string{"first " + place(first) + moment(first), brieflyAt(first)}
	case root != nil:
		style, texts = p.st.Warn, []string{"every recorded value is finite; began: " + place(root) + moment(root), "all finite; " + brieflyAt(root)}
	default:
		var text string
		style, text = p.finite()
		texts = []string{text}
	}
	return p.fitting(texts, style, w)
}

// root is where it began, nil when that is the first bad value itself.
func (p headerPane) root() *rootcause.Onset {
	d, first := p.rec.Diagnosis, p.rec.Trip()
	if d == nil || d.Root == nil || first != nil && d.Root.Tick == first.Tick && d.Root.Field == first.Field {
		return nil
	}
	return d.Root
}

// fitting draws the first text that fits, with the progress at the right where
// there is room.
func (p headerPane) fitting(texts []string, style lipgloss.Style, w int) string {
	text := texts[len(texts)-1]
	for _, t := range texts {
		if cell.Width(t)+2 <= w {
			text = t
			break
		}
	}
	right := p.progress()
	if cell.Width(text)+cell.Width(right)+2 > w {
		return style.Render(cell.Fit(" "+text, w))
	}
	return style.Render(cell.Fit(" "+text, w-cell.Width(right))) + p.st.Faint.Render(right)
}

// count says a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// finite says what is known while nothing bad is.
func (p headerPane) finite() (lipgloss.Style, string) {
	if s, ok := p.rec.FirstBad(); ok {
		return p.st.BadText, fmt.Sprintf("first bad value in %s at tick %d", p.rec.Fields[s.Field].Name, s.Tick)
	}
	if n := len(p.rec.Unlisted.IDs); n > 0 {
		return p.st.Warn, count(n, "env") + " went bad and are not in the file; what is there is finite"
	}
	for _, e := range p.rec.Envs {
		if e.Missing {
			return p.st.Warn, fmt.Sprintf("env %d went bad and is not in the file; what is there is finite", e.ID)
		}
	}
	if len(p.rec.Fields) == 0 {
		return p.st.Warn, "nothing is recorded"
	}
	for _, f := range p.rec.Fields {
		switch {
		case !f.Loaded:
			return p.st.Faint, "nothing bad so far"
		case f.Err != nil:
			return p.st.Warn, "what could be read is finite"
		}
	}
	if d := p.rec.Diagnosis; d != nil && d.Verdict == rootcause.Clean {
		return p.st.Good, "every recorded value is finite"
	}
	return p.st.Text, "every recorded value is finite"
}

// progress says how much is read, and afterwards how many doubts there are.
func (p headerPane) progress() string {
	n := 0
	for _, f := range p.rec.Fields {
		if f.Loaded {
			n++
		}
	}
	if n < len(p.rec.Fields) {
		return fmt.Sprintf("reading %d of %d fields… ", n+1, len(p.rec.Fields))
	}
	if doubts := len(p.rec.Warnings()); doubts > 0 {
		return count(doubts, "doubt") + ": press 2 "
	}
	return ""
}

// place says an onset in words: "NaN in qacc[root vx], env 14, tick 44".
func place(o *rootcause.Onset) string {
	text := fmt.Sprintf("%s in %s", report.ClassName(o.Class), element(o))
	if o.Env != nil {
		text += fmt.Sprintf(", env %d", *o.Env)
	}
	return text + fmt.Sprintf(", tick %d", o.Tick)
}

// moment adds the field's clock: " (substep 36)".
func moment(o *rootcause.Onset) string {
	if o.Clock == "" {
		return ""
	}
	return fmt.Sprintf(" (%s %d)", o.Clock, o.Count)
}

// brieflyAt says an onset in as few words as it takes.
func brieflyAt(o *rootcause.Onset) string {
	return fmt.Sprintf("%s %s @%d", report.ClassName(o.Class), element(o), o.Tick)
}

// barely says an onset without its column.
func barely(o *rootcause.Onset) string {
	return fmt.Sprintf("%s %s @%d", report.ClassName(o.Class), clean(o.Field), o.Tick)
}

// otherEnv names the env of an onset where it is not the one of another: the
// first bad value may be in a field of the whole run.
func otherEnv(o, other *rootcause.Onset) string {
	if o.Env == nil || other.Env != nil && *other.Env == *o.Env {
		return ""
	}
	return fmt.Sprintf(", env %d", *o.Env)
}

// element names field and column; a label that names the field itself stands
// alone.
func element(o *rootcause.Onset) string {
	field := clean(o.Field)
	switch {
	case o.Column == "":
		return fmt.Sprintf("%s[%d]", field, o.Col)
	case strings.HasPrefix(o.Column, field):
		return o.Column
	}
	return fmt.Sprintf("%s[%s]", field, o.Column)
}
