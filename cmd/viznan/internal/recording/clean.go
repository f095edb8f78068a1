package recording

import (
	"slices"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/rootcause"
)

// clean returns a copy of d whose texts are harmless. Names of fields stay
// raw: they are looked up, and shown by Field.Name.
func clean(d *rootcause.Diagnosis) *rootcause.Diagnosis {
	c := *d
	c.Verdict = cell.Clean(d.Verdict)
	c.Causes = slices.Clone(d.Causes)
	for i := range c.Causes {
		cleanCause(&c.Causes[i])
	}
	c.Checklist = slices.Clone(d.Checklist)
	for i := range c.Checklist {
		k := &c.Checklist[i]
		k.Check, k.Evidence, k.Fix = cell.Clean(k.Check), cell.Clean(k.Evidence), cell.Clean(k.Fix)
	}
	c.Next = slices.Clone(d.Next)
	for i := range c.Next {
		c.Next[i].Text = cell.Clean(c.Next[i].Text)
	}
	c.FirstBad, c.Root = cleanPointer(d.FirstBad), cleanPointer(d.Root)
	return &c
}

func cleanCause(h *rootcause.Hypothesis) {
	h.ID, h.Title, h.Fix = cell.Clean(h.ID), cell.Clean(h.Title), cell.Clean(h.Fix)
	h.Evidence = slices.Clone(h.Evidence)
	for i := range h.Evidence {
		h.Evidence[i].Text = cell.Clean(h.Evidence[i].Text)
	}
}

// cleanPointer copies an onset that may be nil.
func cleanPointer(o *rootcause.Onset) *rootcause.Onset {
	if o == nil {
		return nil
	}
	c := *o
	cleanOnset(&c)
	return &c
}

func cleanOnset(o *rootcause.Onset) {
	o.Column, o.Clock, o.Class = cell.Clean(o.Column), cell.Clean(o.Clock), cell.Clean(o.Class)
}
