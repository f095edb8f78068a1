package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/internal/cli"
)

// exportFlags are the flags of the export command.
type exportFlags struct {
	env    int
	step   int64
	format string
}

// newExport returns the export command.
func newExport(g *globals) *cobra.Command {
	var x exportFlags
	c := dumpArg(&cobra.Command{
		Use:   "export DUMP FIELD",
		Short: "Write the values of a field as CSV, JSON or npy",
		Long: "export writes every captured frame of a field (or of \"state\", the simulator's state vector).\n" +
			"JSON spells the values that it has no numbers for \"NaN\", \"Infinity\" and \"-Infinity\".",
		Example: "  nanguard export nan_dump_latest.npz qvel --env 10 > qvel.csv\n" +
			"  nanguard export nan_dump_latest.npz state --step 120 --format json\n" +
			"  nanguard export nan_dump_latest.npz obs.policy --format npy > obs.npy",
	}, 2)
	c.Flags().IntVar(&x.env, "env", -1, "only this env of the run")
	c.Flags().Int64Var(&x.step, "step", -1, "only frames with this count of the field's clock (for state: this step)")
	c.Flags().StringVar(&x.format, "format", "csv", "csv, json or npy")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case g.json && c.Flags().Changed("format") && x.format != "json":
			return cli.Usagef("--json and --format %s exclude each other", x.format)
		case g.json:
			x.format = "json"
		}
		return g.export(c, args[0], args[1], x)
	}
	return c
}

// export writes one field.
func (g *globals) export(c *cobra.Command, name, field string, x exportFlags) error {
	write, ok := exportFormats[x.format]
	if !ok {
		return cli.Usagef("unknown format %q: csv, json or npy", x.format)
	}
	f, err := g.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := newTable(f, field)
	if err != nil {
		return err
	}
	if c.Flags().Changed("env") {
		if err := t.keepEnv(x.env); err != nil {
			return err
		}
	}
	if c.Flags().Changed("step") {
		if err := t.keepStep(x.step); err != nil {
			return err
		}
	}
	for _, w := range f.Warnings() {
		fmt.Fprintf(c.ErrOrStderr(), "nanguard: warning: %s\n", cli.OneLine(w.Error()))
	}
	return write(c.OutOrStdout(), t)
}

// exportFormats are the writers by the name of their format.
var exportFormats = map[string]func(io.Writer, *table) error{
	"csv": writeCSV, "json": writeTableJSON, "npy": writeNPY,
}
