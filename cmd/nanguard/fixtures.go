package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/fixtures"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/rootcause"
)

// newFixtures returns the fixtures command and what is below it.
func newFixtures(g *globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "fixtures",
		Short: "List, verify and export failures whose cause is known",
		Long: "fixtures are small training runs with the guard in their loop, each with one fault that is switched on and\n" +
			"the cause that a diagnosis must name; some have no fault. Every value in them is computed, none written in.",
		Example: "  nanguard fixtures list\n  nanguard fixtures verify\n  nanguard fixtures export out --seed 7",
		Args:    cli.Args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newFixturesList(g), newFixturesVerify(g), newFixturesExport(g))
	return c
}

// fixtureInfo is the JSON of one fixture.
type fixtureInfo struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Story    string   `json:"story"`
	Incident string   `json:"incident,omitempty"`
	Cause    string   `json:"cause"` // or "clean"
	Also     []string `json:"also"`  // not wrong either
	Fields   []string `json:"fields"`
	Silent   bool     `json:"silent"`
}

func newFixtureInfo(f fixtures.Fixture) fixtureInfo {
	return fixtureInfo{
		Name: f.Name, Title: f.Title, Story: f.Story, Incident: f.Incident,
		Cause: causeOf(f.Want), Also: list(f.Want.Also), Fields: list(f.Want.Fields), Silent: f.Want.Silent,
	}
}

// causeOf returns the id that a diagnosis must name.
func causeOf(w fixtures.Want) string {
	if w.Cause == "" {
		return rootcause.Clean
	}
	return w.Cause
}

// newFixturesList returns the command that lists them.
func newFixturesList(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the fixtures and what must be diagnosed in each",
		Args: cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			var all []fixtureInfo
			for _, f := range fixtures.Catalog() {
				all = append(all, newFixtureInfo(f))
			}
			if g.json {
				return writeJSON(c.OutOrStdout(), all)
			}
			return printFixtures(c.OutOrStdout(), all)
		},
	}
}

// printFixtures writes a table.
func printFixtures(w io.Writer, all []fixtureInfo) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tCAUSE\tWHAT HAPPENS")
	for _, f := range all {
		what := f.Title
		if f.Silent {
			what += "; nothing is ever non-finite"
		}
		if f.Incident != "" {
			what += " (after " + f.Incident + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Name, f.Cause, what)
	}
	return t.Flush()
}

// chosen returns the fixtures of the given names, all of them without names.
func chosen(names []string) ([]fixtures.Fixture, error) {
	if len(names) == 0 {
		return fixtures.Catalog(), nil
	}
	var out []fixtures.Fixture
	for _, name := range names {
		f, ok := fixtures.Find(name)
		if !ok {
			return nil, cli.Usagef("no fixture is called %q; nanguard fixtures list has the names", name)
		}
		out = append(out, f)
	}
	return out, nil
}

// completeFixtures offers the names.
func completeFixtures(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, f := range fixtures.Catalog() {
		out = append(out, cobra.CompletionWithDesc(f.Name, f.Title))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
