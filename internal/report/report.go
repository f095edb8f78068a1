package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nanguard/nanguard/internal/safetext"
	"github.com/nanguard/nanguard/rootcause"
)

// Options says how a diagnosis is laid out.
type Options struct {
	Title string // first line: the file and what it is
	Width int    // columns; 0 means 100
	Color bool   // style with ANSI codes
}

// maxWidth keeps lines readable on very wide terminals.
const maxWidth = 110

// Text writes d to w, no line wider than the options say.
func Text(w io.Writer, d *rootcause.Diagnosis, o Options) error {
	if o.Width <= 0 || o.Width > maxWidth {
		o.Width = min(max(o.Width, 100), maxWidth)
	}
	p := &printer{width: max(o.Width, 40), st: newStyles(o.Color)}
	p.title(o.Title)
	p.verdict(d)
	p.onsets(d)
	p.causes(d)
	p.checklist(d)
	p.next(d)
	p.warnings(d)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// printer collects the text.
type printer struct {
	b     strings.Builder
	width int
	st    styles
}

// title prints the line that says which file this is about.
func (p *printer) title(s string) {
	if s != "" {
		p.wrap("", "  ", s, p.st.plain)
		p.b.WriteByte('\n')
	}
}

// verdict prints the answer, and what it rests on.
func (p *printer) verdict(d *rootcause.Diagnosis) {
	switch {
	case d.Verdict == "clean":
		p.wrap("  ", "  ", "CLEAN: nothing wrong in what was recorded", p.st.good)
	case d.Verdict == "unknown" || len(d.Causes) == 0:
		p.wrap("  ", "  ", "UNKNOWN: something is wrong, and no cause has earned the verdict", p.st.warn)
		p.likeliest(d)
	default:
		c := d.Causes[0]
		p.wrap("  ", "  ", fmt.Sprintf("%s: %s (%s)", strings.ToUpper(c.ID), c.Title, Percent(c.Probability)), p.st.bad)
	}
	if d.Verdict != "clean" {
		p.wrap("  ", "  ", fmt.Sprintf("coverage %s of the evidence that a full dump would hold", Percent(d.Coverage)), p.st.dim)
	}
}

// likeliest names the causes among which the dump cannot tell, the first of them
// with most of the belief.
func (p *printer) likeliest(d *rootcause.Diagnosis) {
	var names []string
	told := 0.0
	for i := range d.Causes {
		c := &d.Causes[i]
		if len(names) == maxLikeliest || told > 0.8 || c.Probability < shownShare {
			break
		}
		told += c.Probability
		names = append(names, fmt.Sprintf("%s (%s)", c.ID, Percent(c.Probability)))
	}
	if len(names) > 0 {
		p.wrap("  ", "  ", "likeliest: "+strings.Join(names, ", then "), p.st.bold)
	}
}

// maxLikeliest bounds the headline of a dump that cannot tell.
const maxLikeliest = 4

// onsets prints where it began and what went bad first.
func (p *printer) onsets(d *rootcause.Diagnosis) {
	if d.Root == nil && d.FirstBad == nil {
		return
	}
	p.head("where it began")
	if d.Root != nil {
		p.wrap("  ", "    ", onset(d.Root), p.st.bold)
	}
	if d.FirstBad != nil && (d.Root == nil || *d.Root != *d.FirstBad) {
		p.wrap("  first non-finite value: ", "    ", onset(d.FirstBad), p.st.plain)
	}
	p.order(d.Order)
}

// maxOrder bounds the table of fields: after the first few all is aftermath.
const maxOrder = 8

// order prints the table of fields in the order in which they went bad.
func (p *printer) order(rows []rootcause.Onset) {
	if len(rows) < 2 {
		return
	}
	p.b.WriteByte('\n')
	for i := range rows[:min(len(rows), maxOrder)] {
		r := &rows[i]
		line := fmt.Sprintf("tick %-6d %-22s %-8s %s", r.Tick, safetext.Clip(r.Field, 22), r.Class, place(r))
		p.wrap("  ", "    ", line, p.st.dim)
	}
	if n := len(rows) - maxOrder; n > 0 {
		p.wrap("  ", "  ", fmt.Sprintf("and %d more fields", n), p.st.dim)
	}
}

// onset says one onset in words.
func onset(o *rootcause.Onset) string {
	return fmt.Sprintf("%s is %s, %s, at tick %d (%s %d)", o.Field, ClassName(o.Class), place(o), o.Tick, o.Clock, o.Count)
}

// place names env and column of an onset.
func place(o *rootcause.Onset) string {
	s := o.Column
	if s == "" {
		s = fmt.Sprintf("column %d", o.Col)
	}
	if o.Env != nil {
		s = fmt.Sprintf("env %d, %s", *o.Env, s)
	}
	if o.Envs > 1 {
		s += fmt.Sprintf(" (%d envs)", o.Envs)
	}
	return s
}

// warnings prints the doubts that travel with the result.
func (p *printer) warnings(d *rootcause.Diagnosis) {
	if len(d.Warnings) == 0 {
		return
	}
	p.head("doubts")
	for _, w := range d.Warnings {
		p.wrap("  ! ", "    ", w, p.st.warn)
	}
}

// next prints the recommended actions, the best first.
func (p *printer) next(d *rootcause.Diagnosis) {
	if len(d.Next) == 0 {
		return
	}
	p.head("do next")
	for i, a := range d.Next {
		p.wrap(fmt.Sprintf("  %d. ", i+1), "     ", a.Text, p.st.plain)
	}
}
