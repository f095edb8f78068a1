package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/rootcause"
)

// barCells is the width of the bar for a probability of one.
const barCells = 16

// causes prints the ranking in the order of the brief's table: its five causes as
// a group, then the others by falling probability, then unknown. The headline says
// which is the likeliest of all; it is bold here.
func (p *printer) causes(d *rootcause.Diagnosis) {
	if len(d.Causes) == 0 {
		return
	}
	p.head("causes")
	five := rootcause.Brief()
	for i, id := range order(d) {
		if i == len(five) {
			p.b.WriteByte('\n')
		}
		if k := slices.IndexFunc(d.Causes, func(h rootcause.Hypothesis) bool { return h.ID == id }); k >= 0 {
			p.cause(&d.Causes[k], k == 0)
		}
	}
}

// order returns the ids of the causes as they are shown.
func order(d *rootcause.Diagnosis) []string {
	if len(d.Shown) > 0 {
		return d.Shown
	}
	ids := make([]string, 0, len(d.Causes)) // of a version that did not say
	for i := range d.Causes {
		ids = append(ids, d.Causes[i].ID)
	}
	return ids
}

// shownShare is the probability under which a cause gets one line only.
const shownShare = 0.05

// cause prints one hypothesis.
func (p *printer) cause(c *rootcause.Hypothesis, first bool) {
	style := p.st.plain
	if first {
		style = p.st.bold
	}
	head := fmt.Sprintf("  %s %5s  ", bar(c.Probability), Percent(c.Probability))
	p.wrap(head, strings.Repeat(" ", 26), c.ID+": "+c.Title, style)
	if !first && c.Probability < shownShare {
		return
	}
	for _, e := range c.Evidence {
		p.wrap("      "+sign(e.Weight)+" ", "        ", e.Text, p.st.plain)
	}
	if c.Fix != "" {
		p.wrap("      fix: ", "        ", c.Fix, p.st.good)
	}
}

// sign marks evidence for and against.
func sign(weight float64) string {
	if weight < 0 {
		return "-"
	}
	return "+"
}

// bar draws a share of one.
func bar(share float64) string {
	n := int(math.Round(share * barCells))
	n = min(max(n, 0), barCells)
	return strings.Repeat("█", n) + strings.Repeat("·", barCells-n)
}

// checklist prints the ten rows in the order in which to clear them.
func (p *printer) checklist(d *rootcause.Diagnosis) {
	if len(d.Checklist) == 0 {
		return
	}
	p.head("checklist")
	for i := range d.Checklist {
		p.check(&d.Checklist[i])
	}
}

// check prints one row; the fix only where it is needed.
func (p *printer) check(c *rootcause.Check) {
	style := map[rootcause.Status]styleFunc{
		rootcause.Implicated: p.st.bad, rootcause.Cleared: p.st.good, rootcause.Unknown: p.st.dim,
	}[c.Status]
	if style == nil {
		style = p.st.plain
	}
	indent := strings.Repeat(" ", 17)
	p.wrap(fmt.Sprintf("  %2d %-10s  ", c.Row, c.Status), indent, c.Check+": "+c.Evidence, style)
	if c.Status == rootcause.Implicated && c.Fix != "" {
		p.wrap(indent+"fix: ", indent, c.Fix, p.st.plain)
	}
}
