package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/report"
	"github.com/nanguard/nanguard/rootcause"
)

// diagnosis is the JSON of the diagnose command.
type diagnosis struct {
	File string `json:"file"`
	rootcause.Diagnosis
}

// newDiagnose returns the diagnose command.
func newDiagnose(g *globals) *cobra.Command {
	return dumpArg(&cobra.Command{
		Use:     "diagnose DUMP",
		Short:   "Say what went bad first, and rank the root causes",
		Example: "  nanguard diagnose nan_dump_latest.npz\n  nanguard diagnose nan_dump_latest.npz --json | jq .verdict",
		RunE: func(c *cobra.Command, args []string) error {
			f, d, err := g.diagnose(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			if g.json {
				err = writeJSON(c.OutOrStdout(), diagnosis{args[0], *d})
			} else {
				err = printDiagnosis(c.OutOrStdout(), f, d)
			}
			return found(d, err)
		},
	}, 1)
}

// diagnose opens a dump and diagnoses it. The caller closes the file.
func (g *globals) diagnose(name string) (*dump.File, *rootcause.Diagnosis, error) {
	f, err := g.open(name)
	if err != nil {
		return nil, nil, err
	}
	c, err := rootcause.NewCase(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("diagnose %q: %w", name, err)
	}
	d := rootcause.Diagnose(c, rootcause.DefaultOptions())
	return f, &d, nil
}

// printDiagnosis prints a diagnosis for a person.
func printDiagnosis(w io.Writer, f *dump.File, d *rootcause.Diagnosis) error {
	return report.Text(w, d, report.Options{
		Title: title(f), Width: cli.Width(w), Color: cli.Color(w),
	})
}

// title says in one line what a dump is.
func title(f *dump.File) string {
	m := f.Manifest()
	return fmt.Sprintf("%s: %s, %d envs, %d of them in the file",
		filepath.Base(f.Name()), producer(m), m.NumEnvs, len(m.EnvIDs))
}

// found turns a diagnosis into the error that makes the exit code.
func found(d *rootcause.Diagnosis, err error) error {
	if err == nil && d.Verdict != rootcause.Clean {
		return cli.ErrFound
	}
	return err
}
