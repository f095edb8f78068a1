package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/safetext"
)

// print writes the inspection for a person.
func (in *inspection) print(w io.Writer) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, safetext.Line(fmt.Sprintf(format, args...)))
	}
	row("file", "%s", in.File)
	row("producer", "%s (%s)", in.Producer, in.Format)
	row("envs", "%d in the run, in the file: %s", in.NumEnvs, envList(in.EnvIDs, in.EnvRoles))
	row("states", "%s", in.states())
	row("model", "%s", in.model())
	row("trip", "%s", in.trip())
	row("events", "%d", len(in.Events))
	_ = t.Flush() // a strings.Builder takes everything
	in.printFields(&b)
	for _, warning := range in.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", safetext.Line(warning))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// states says which states the file holds.
func (in *inspection) states() string {
	if in.StateSize == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, steps %d to %d, %d columns", in.Steps.Count, in.Steps.First, in.Steps.Last, in.StateSize)
}

// model says which model lies beside the file.
func (in *inspection) model() string {
	if in.Model == nil {
		return "none beside the dump"
	}
	s := in.Model.File
	if in.Model.MuJoCo != "" {
		s += ", MuJoCo " + in.Model.MuJoCo
	}
	return fmt.Sprintf("%s, nq %d, nv %d, na %d", s, in.Model.NQ, in.Model.NV, in.Model.NA)
}

// trip says what tripped the guard.
func (in *inspection) trip() string {
	if in.Trip == nil {
		return "not recorded"
	}
	t := in.Trip
	s := fmt.Sprintf("%s in %s, column %d", t.Class, t.Field, t.Col)
	if t.Env != nil {
		s += fmt.Sprintf(", env %d", *t.Env)
	}
	return fmt.Sprintf("%s, at tick %d (%s %d)", s, t.Tick, t.Clock, t.Count)
}

// printFields writes the table of fields.
func (in *inspection) printFields(b *strings.Builder) {
	if len(in.Fields) == 0 {
		return
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FIELD\tSTAGE\tCLOCK\tDTYPE\tFRAMES\tROWS\tCOLS\tFIRST BAD")
	for _, f := range in.Fields {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", safetext.Line(f.Name), safetext.Line(string(f.Stage)),
			safetext.Line(string(f.Clock)), safetext.Line(f.DType), f.Frames, f.Rows, f.Cols, in.firstBad(f.Name))
	}
	_ = t.Flush()
}

// firstBad says when a field went bad, if it did.
func (in *inspection) firstBad(field string) string {
	for _, b := range in.FirstBad {
		if b.Field == field {
			return safetext.Line(fmt.Sprintf("%s at tick %d", b.Class, b.Tick))
		}
	}
	return ""
}

// maxListed bounds the envs that one line names.
const maxListed = 12

// envList names the envs of a file with their roles.
func envList(ids []int, roles []dump.Role) string {
	var parts []string
	for i, id := range ids[:min(len(ids), maxListed)] {
		s := fmt.Sprint(id)
		if i < len(roles) {
			s += " " + string(roles[i])
		}
		parts = append(parts, s)
	}
	if n := len(ids) - maxListed; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
