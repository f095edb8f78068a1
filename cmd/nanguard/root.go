package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/forensics"
)

// globals are the flags that every command takes.
type globals struct {
	json     bool
	maxBytes cli.ByteSize
}

// Help lists the commands in the order of use, as newRoot adds them.
func init() { cobra.EnableCommandSorting = false }

// newRoot returns the whole command tree.
func newRoot() *cobra.Command {
	g := &globals{maxBytes: dump.DefaultMaxBytes}
	root := &cobra.Command{
		Use:   "nanguard",
		Short: "Find out why a robot-RL run went NaN",
		Long: "nanguard reads the dumps of NaN guards (its own, mjlab's and its relatives') and says what went bad first,\n" +
			"which root cause explains it best, on what evidence, and what to change.",
		Example: "  nanguard demo contact\n  nanguard diagnose nan_dumps/nan_dump_latest.npz\n  nanguard check nan_dumps --json",
	}
	root.PersistentFlags().BoolVar(&g.json, "json", false, "print the result as JSON")
	root.PersistentFlags().Var(&g.maxBytes, "max-bytes", "most memory that a dump may take, such as 512M or 2G")
	root.AddCommand(newDemo(g), newInspect(g), newDiagnose(g), newExplain(g), newExport(g), newCheck(g), newFixtures(g), newDoctor(g), newBench(g), newVersion(g))
	return root
}

// open opens a dump within the memory limit.
func (g *globals) open(name string) (*dump.File, error) { return forensics.Open(name, g.maxBytes) }

// writeJSON prints v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// dumpArg completes and checks the DUMP argument of a command.
func dumpArg(c *cobra.Command, args int) *cobra.Command {
	c.Args = cli.Args(cobra.ExactArgs(args))
	c.ValidArgsFunction = func(_ *cobra.Command, got []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(got) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"npz"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return c
}
