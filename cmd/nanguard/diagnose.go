package main

import (
	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/forensics"
	"github.com/nanguard/nanguard/rootcause"
)

// diagnosis is the JSON of the diagnose command.
type diagnosis struct {
	File string `json:"file"`
	rootcause.Diagnosis
}

// newDiagnose returns the diagnose command.
func newDiagnose(g *globals) *cobra.Command {
	o := rootcause.DefaultOptions()
	c := dumpArg(&cobra.Command{
		Use:     "diagnose DUMP",
		Short:   "Say what went bad first, and rank the root causes",
		Example: "  nanguard diagnose nan_dump_latest.npz\n  nanguard diagnose nan_dump_latest.npz --json | jq .verdict",
		RunE: func(c *cobra.Command, args []string) error {
			f, d, err := g.diagnose(args[0], o)
			if err != nil {
				return err
			}
			defer f.Close()
			if g.json {
				err = writeJSON(c.OutOrStdout(), diagnosis{args[0], *d})
			} else {
				err = forensics.Print(c.OutOrStdout(), f, d)
			}
			if err != nil {
				return err
			}
			return forensics.Found(d)
		},
	}, 1)
	c.Flags().Var(&o.Prior, "prior", "what to believe before any evidence: textbook, field or uniform")
	return c
}

// diagnose opens a dump and diagnoses it. The caller closes the file.
func (g *globals) diagnose(name string, o rootcause.Options) (*dump.File, *rootcause.Diagnosis, error) {
	f, err := g.open(name)
	if err != nil {
		return nil, nil, err
	}
	d, err := forensics.DiagnoseWith(f, o)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, d, nil
}
