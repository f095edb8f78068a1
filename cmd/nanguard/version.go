package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/version"
)

// newVersion returns the version command.
func newVersion(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print what this binary is",
		Args:  cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			v := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version.String(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if g.json {
				return writeJSON(c.OutOrStdout(), v)
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "nanguard %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
}
