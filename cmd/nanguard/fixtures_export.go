package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/fixtures"
	"github.com/nanguard/nanguard/internal/cli"
)

// exported is the JSON of one exported fixture, and of truth.json beside them.
type exported struct {
	fixtureInfo
	Seed   uint64          `json:"seed"`
	File   string          `json:"file"` // from the folder
	Ending fixtures.Ending `json:"ending"`
	Error  string          `json:"error,omitempty"`
	Trip   *dump.Trip      `json:"trip"`
	Guilty []int           `json:"guilty"` // envs in which it may have begun; null when any may
}

// truthFile is what tells the dumps of an export apart.
const truthFile = "truth.json"

// newFixturesExport returns the command that writes them.
func newFixturesExport(g *globals) *cobra.Command {
	var seed uint64
	var only []string
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write the dumps of all fixtures, for others to test their tools on",
		Long:  "export runs the fixtures and leaves DIR/NAME.npz of each, with " + truthFile + " beside them: what must be found in which.",
		Example: "  nanguard fixtures export out\n  nanguard fixtures export out --seed 7 --only contact,ranks\n" +
			"  python -c 'import numpy as np; print(np.load(\"out/contact.npz\", allow_pickle=True).files)'",
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			all, err := exportFixtures(c.Context(), args[0], seed, only)
			if err != nil {
				return err
			}
			if g.json {
				return writeJSON(c.OutOrStdout(), all)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%d dumps and %s are in %s\n", len(all), truthFile, args[0])
			return err
		},
	}
	c.Flags().Uint64Var(&seed, "seed", 1, "the same seed makes the same dumps")
	c.Flags().StringSliceVar(&only, "only", nil, "names of the fixtures to write")
	return c
}

// exportFixtures runs the chosen fixtures and writes what is known of each.
func exportFixtures(ctx context.Context, dir string, seed uint64, only []string) (out []exported, err error) {
	all, err := chosen(only)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		e, err := exportOne(ctx, f, seed, dir)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	w, err := os.Create(filepath.Join(dir, truthFile))
	if err != nil {
		return nil, fmt.Errorf("export fixtures: %w", err)
	}
	if err := writeJSON(io.Writer(w), out); err != nil {
		w.Close()
		return nil, fmt.Errorf("export fixtures: %w", err)
	}
	return out, w.Close()
}

// exportOne runs a fixture in a folder of its own and moves its dump out.
func exportOne(ctx context.Context, f fixtures.Fixture, seed uint64, dir string) (exported, error) {
	work := filepath.Join(dir, ".work-"+f.Name)
	res, err := fixtures.Run(ctx, fixtures.Options{Fault: f.Name, Seed: seed, Dir: work})
	if err != nil {
		return exported{}, err
	}
	e := exported{
		fixtureInfo: newFixtureInfo(f), Seed: seed, File: f.Name + ".npz",
		Ending: res.Ending, Error: res.Error, Trip: res.Trip, Guilty: res.Guilty,
	}
	if err := os.Rename(res.Path, filepath.Join(dir, e.File)); err != nil {
		return exported{}, fmt.Errorf("export fixture %q: %w", f.Name, err)
	}
	return e, os.RemoveAll(work)
}
