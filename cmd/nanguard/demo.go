package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/fixtures"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/forensics"
	"github.com/nanguard/nanguard/rootcause"
)

// defaultFault is what demo breaks when nothing is named: the textbook's first.
const defaultFault = "contact"

// demoFlags are the flags of the demo command.
type demoFlags struct {
	seed uint64
	dir  string
}

// demoResult is the JSON of the demo command.
type demoResult struct {
	Fault      string          `json:"fault"`
	Seed       uint64          `json:"seed"`
	Story      string          `json:"story"`
	Expected   string          `json:"expected"` // the cause that was switched on, or "clean"
	Dump       string          `json:"dump"`
	Ending     fixtures.Ending `json:"ending"`
	Error      string          `json:"error,omitempty"`
	Trip       *dump.Trip      `json:"trip"`
	Iterations int             `json:"iterations"`
	EnvSteps   int64           `json:"env_steps"`
	Diagnosis  diagnosis       `json:"diagnosis"`
}

// newDemo returns the demo command.
func newDemo(g *globals) *cobra.Command {
	x := demoFlags{dir: "demo_dumps"}
	c := &cobra.Command{
		Use:   "demo [FAULT]",
		Short: "Break a small simulation on purpose and diagnose it",
		Long:  "demo trains a small policy in an embedded simulation with the guard in its loop. A fault is switched on, and\nthe numbers do the rest: no value is ever overwritten.\n\n" + faultList(),
		Example: "  nanguard demo\n  nanguard demo stale --seed 7\n" +
			"  nanguard demo clean",
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return g.demo(c, strings.Join(args, ""), x)
		},
	}
	for _, f := range fixtures.Catalog() {
		c.ValidArgs = append(c.ValidArgs, cobra.CompletionWithDesc(f.Name, f.Title))
	}
	c.Flags().Uint64Var(&x.seed, "seed", 1, "the same seed makes the same dump")
	c.Flags().StringVarP(&x.dir, "output", "o", x.dir, "folder of the dump")
	return c
}

// faultList describes the faults for the help text.
func faultList() string {
	var b strings.Builder
	for _, f := range fixtures.Catalog() {
		fmt.Fprintf(&b, "%-17s %s: %s\n", f.Name, f.Title, f.Story)
	}
	return b.String()
}

// faultNames lists the faults by name.
func faultNames() string {
	var names []string
	for _, f := range fixtures.Catalog() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// demo runs one fixture, diagnoses its dump and says how to look at it.
func (g *globals) demo(c *cobra.Command, fault string, x demoFlags) error {
	if fault == "" {
		fault = defaultFault
	}
	fixture, ok := fixtures.Find(fault)
	if !ok {
		return cli.Usagef("no fault is called %q; there are %s", fault, faultNames())
	}
	p := newProgress(c.ErrOrStderr())
	fmt.Fprintf(c.ErrOrStderr(), "%s (seed %d): %s\n", fixture.Title, x.seed, fixture.Story)
	r, err := fixtures.Run(c.Context(), fixtures.Options{
		Fault: fault, Seed: x.seed, Dir: x.dir, Progress: p.show,
	})
	p.end()
	if err != nil {
		return err
	}
	f, d, err := g.diagnose(r.Path, rootcause.DefaultOptions())
	if err != nil {
		return err
	}
	defer f.Close()
	if g.json {
		return writeJSON(c.OutOrStdout(), newDemoResult(fixture, x.seed, r, d))
	}
	return tellDemo(c.OutOrStdout(), f, r, d)
}

// newDemoResult collects the JSON.
func newDemoResult(f fixtures.Fixture, seed uint64, r fixtures.Result, d *rootcause.Diagnosis) demoResult {
	expected := f.Want.Cause
	if expected == "" {
		expected = rootcause.Clean
	}
	return demoResult{
		Fault: f.Name, Seed: seed, Story: f.Story, Expected: expected, Dump: r.Path, Ending: r.Ending, Error: r.Error,
		Trip: r.Trip, Iterations: r.Iterations, EnvSteps: r.EnvSteps, Diagnosis: diagnosis{r.Path, *d},
	}
}

// tellDemo prints how the run ended, the diagnosis and the way to viznan.
func tellDemo(w io.Writer, f *dump.File, r fixtures.Result, d *rootcause.Diagnosis) error {
	ending := "the guard tripped"
	switch r.Ending {
	case fixtures.Raised:
		ending = "the loop raised an error, all values being finite: " + r.Error
	case fixtures.Completed:
		ending = "the run completed"
	}
	if _, err := fmt.Fprintf(w, "After %d iterations (%d env steps) %s.\n\n", r.Iterations, r.EnvSteps, ending); err != nil {
		return err
	}
	if err := forensics.Print(w, f, d); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nReplay it:  %s %s\n", viznan(), r.Path)
	return err
}

// viznan returns how to call the viewer: by its name where a shell finds it, else
// by the path beside this program.
func viznan() string {
	const name = "viznan"
	if _, err := exec.LookPath(name); err == nil {
		return name
	}
	beside := filepath.Join(filepath.Dir(os.Args[0]), name)
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	return name
}
