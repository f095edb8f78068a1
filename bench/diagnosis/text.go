package main

import (
	"fmt"
	"sort"
	"strings"
)

// text is the report for a person.
func (r *report) text(all []sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Diagnosis\n\nMeasured on %s at %s, %s. Made by `go run ./bench/diagnosis -seeds %d`; do not edit.\n\n", r.Date, r.Commit, r.Machine, r.Seeds)
	b.WriteString(method)
	r.byVersion(&b)
	r.byCollection(&b)
	r.byFixture(&b)
	r.byBelief(&b)
	test := filter(all, func(s sample) bool { return s.Split == "test" && s.Version == "full" })
	writeConfusion(&b, test)
	writeMisses(&b, filter(all, func(s sample) bool { return s.Version == "full" && !s.Mark.Accepted && s.Source == "captured" }))
	return b.String()
}

const method = `What is counted: *first* is the cause itself at the top of the ranking; *accepted* also what an expert would not call wrong (a
gain too high for the timestep diverges in a contact; the list is part of each fixture); *in three* is the cause among the first three, or
an accepted one first. A verdict is withheld (*none*) when no cause earned it; a failure is *unseen* when its dump is called clean,
for a silent failure leaves no trace in a version that lacks what it is silent in. Field, env and step ask for the first bad value as the
version has it, and whether the env in which the diagnosis sees the beginning is one that the fault had hold of. A false alarm is a clean
run that is not called clean.

What was fitted on what: the fixtures' even seeds and the captured dumps marked "tune" were open to whoever set thresholds and likelihoods;
the odd seeds and those marked "test" were not. The weights of rootcause were fitted to the first (-fit). A fixture's seeds resemble one another more than two
real failures do: the figures of the captured dumps are the ones to compare with one's own.

`

const head = "| n | first | accepted | in three | verdict right | wrong | none | unseen | field | env | step | clean | false alarms |\n"

// row writes the figures of a tally.
func (t tally) row() string {
	return fmt.Sprintf("%d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d | %d |\n",
		t.N, percent(t.First, t.N), percent(t.Accepted, t.N), percent(t.Three, t.N),
		percent(t.Right, t.N), percent(t.Wrong, t.N), percent(t.None, t.N), percent(t.Unseen, t.N),
		percent(t.Field.Right, t.Field.Asked), percent(t.Env.Right, t.Env.Asked), percent(t.Step.Right, t.Step.Asked),
		t.Clean, t.Alarms)
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

const rule = "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

func (r *report) byVersion(b *strings.Builder) {
	b.WriteString("## Fixtures, by what is left of the dump (test half)\n\n| version " + head + rule)
	for _, v := range versions {
		fmt.Fprintf(b, "| %s | %s", v.name, r.Versions[v.name].row())
	}
	b.WriteString("\n")
	for _, v := range versions {
		fmt.Fprintf(b, "- %s: %s\n", v.name, v.what)
	}
	b.WriteString("\nA version is left out for dumps that have nothing to show in it: mjlab's guard does not fire when a reward fails.\n\n")
}

func (r *report) byCollection(b *strings.Builder) {
	b.WriteString("## Captured dumps of real engines, as they are\n\n| split " + head + rule)
	for _, split := range []string{"tune", "test"} {
		fmt.Fprintf(b, "| %s | %s", split, r.Captured[split].row())
	}
	b.WriteString("\n")
}

func (r *report) byFixture(b *strings.Builder) {
	b.WriteString("## Each fixture, as it is (all seeds)\n\n| fixture " + head + rule)
	var names []string
	for name := range r.Fixtures {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(b, "| %s | %s", name, r.Fixtures[name].row())
	}
	b.WriteString("\n")
}

func (r *report) byBelief(b *strings.Builder) {
	b.WriteString("## Is a belief of 0.8 right four times in five?\n\n![reliability](diagnosis.svg)\n\n")
	b.WriteString("All failures that were noticed, test half, as they are; right means accepted.\n\n| belief | n | mean belief | right |\n|---|---|---|---|\n")
	for _, k := range r.Bins {
		if k.N > 0 {
			fmt.Fprintf(b, "| %.1f to %.1f | %d | %.2f | %.2f |\n", k.From, k.To, k.N, k.Belief, k.Right)
		}
	}
	b.WriteString("\nExpected calibration error: ")
	var parts []string
	for _, name := range []string{"full, test half", "full, test half, strict", "all versions, test half", "all versions, test half, strict", "captured"} {
		parts = append(parts, fmt.Sprintf("%.3f (%s)", r.ECE[name], name))
	}
	b.WriteString(strings.Join(parts, ", ") + ".\n\n")
}

func writeConfusion(b *strings.Builder, all []sample) {
	wants, gots, counts := confusion(all)
	b.WriteString("## What was taken for what (test half, as it is)\n\nRows are true, columns are what ranked first.\n\n| |")
	for _, g := range gots {
		b.WriteString(" " + g + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(gots)) + "\n")
	for _, w := range wants {
		b.WriteString("| " + w + " |")
		for _, g := range gots {
			cell := " "
			if n := counts[[2]string{w, g}]; n > 0 {
				cell = fmt.Sprintf(" %d ", n)
			}
			b.WriteString(cell + "|")
		}
		b.WriteString("\n")
	}
}

func writeMisses(b *strings.Builder, all []sample) {
	b.WriteString("\n## Captured dumps that are not diagnosed\n\n")
	if len(all) == 0 {
		b.WriteString("None.\n")
		return
	}
	b.WriteString("| dump | split | true | ranked first | belief |\n|---|---|---|---|---|\n")
	for _, s := range all {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.2f |\n", s.Name, s.Split, s.Want, s.Mark.Got, s.Mark.Belief)
	}
}
