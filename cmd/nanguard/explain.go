package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/rootcause"
)

// newExplain returns the explain command.
func newExplain(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:     "explain [CAUSE]",
		Short:   "Say what a cause is: symptoms, evidence, fix, public cases",
		Long:    "explain prints the card of a cause: what happens, what one sees, the facts that a diagnosis looks for, what to\nchange, and public reports of it. Without an argument it lists the causes.",
		Example: "  nanguard explain\n  nanguard explain contact-divergence\n  nanguard explain stale-graph --json",
		Args:    cli.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: func(_ *cobra.Command, got []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(got) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return rootcause.Causes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listCauses(c.OutOrStdout(), g.json)
			}
			k, ok := rootcause.Explain(args[0])
			if !ok {
				return cli.Usagef("no cause %q: the causes are %s", args[0], strings.Join(rootcause.Causes(), ", "))
			}
			if g.json {
				return writeJSON(c.OutOrStdout(), k)
			}
			_, err := io.WriteString(c.OutOrStdout(), cardText(&k, cardWidth(c.OutOrStdout())))
			return err
		},
	}
}

// cardWidth returns the columns of a card: those of the terminal, within reason.
func cardWidth(w io.Writer) int {
	if width := cli.Width(w); width > 0 {
		return min(max(width, 60), 100)
	}
	return 100
}

// listCauses prints the catalogue.
func listCauses(w io.Writer, asJSON bool) error {
	var cards []rootcause.Card
	for _, id := range rootcause.Causes() {
		k, _ := rootcause.Explain(id)
		cards = append(cards, k)
	}
	if asJSON {
		return writeJSON(w, cards)
	}
	for _, k := range cards {
		if _, err := fmt.Fprintf(w, "  %-22s %s\n", k.ID, k.Title); err != nil {
			return err
		}
	}
	return nil
}

// cardText lays a card out.
func cardText(k *rootcause.Card, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", strings.ToUpper(k.ID), k.Title)
	fold(&b, k.What, "  ", "  ", width)
	section := func(head string) { fmt.Fprintf(&b, "\n%s\n", head) }
	section("what one sees")
	for _, s := range k.Symptoms {
		fold(&b, s, "  - ", "    ", width)
	}
	section("when it is in the running")
	fold(&b, k.Ranked, "  ", "  ", width)
	section("what speaks for it (how many times likelier than on average)")
	for _, l := range k.Looks {
		name := l.Name
		if l.Value != "yes" {
			name += " = " + l.Value
		}
		fold(&b, fmt.Sprintf("%.3gx  %s: %s", l.Times, name, l.Means), "  ", "         ", width)
	}
	section("fix")
	fold(&b, k.Fix, "  ", "  ", width)
	if len(k.Cases) > 0 {
		section("public cases")
	}
	for _, c := range k.Cases {
		fold(&b, c.Text, "  - ", "    ", width)
		fmt.Fprintf(&b, "    %s\n", c.URL)
	}
	return b.String()
}

// fold writes text in lines of at most width columns, the first behind one
// indent, the others behind another.
func fold(b *strings.Builder, text, first, rest string, width int) {
	line := first
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	b.WriteString(line + "\n")
}
