package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/nanguard/nanguard/internal/cli"
)

// print says it for a person.
func (r *benchResult) print(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "nanguard %s, %s, %s\nCPU  %s, %d cores, scanner in %s\n", m.Nanguard, m.OS, m.Date, cli.OneLine(m.CPU), m.Cores, m.Scanner)
	if m.GPU != "" {
		driver := "driver " + m.Driver
		if m.Driver == "" {
			driver = "driver of unknown version"
		}
		fmt.Fprintf(&b, "GPU  %s, %s, CUDA %s\n", m.GPU, driver, m.CUDA)
	}
	r.printHost(&b)
	if r.GPU.Usable {
		r.GPU.print(&b)
	} else {
		fmt.Fprintf(&b, "\nNothing measured on a GPU: %s\n", r.GPU.why())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printHost says how fast the scanner of the host is.
func (r *benchResult) printHost(b *strings.Builder) {
	fmt.Fprintf(b, "\nScanner of host memory on one core, GB/s (best runs)\n%-9s  %-11s  %10s  %10s  %14s\n",
		"", "", "all finite", "summary", "and copied too")
	for _, h := range r.Host {
		fmt.Fprintf(b, "%-9s  %-11s  %10.1f  %10.1f  %14.1f\n", h.DType, h.Frame, h.AllFinite, h.Summary, h.Capture)
	}
}

// print says what guarding costs on a GPU.
func (g *gpuCosts) print(b *strings.Builder) {
	fmt.Fprintf(b, "\nA check of the 14 fields of a 29-dof humanoid task, frames of all envs kept: median µs of the GPU, and of the host\n")
	fmt.Fprintf(b, "%8s  %9s  %16s  %16s  %16s  %s\n", "envs", "read", "one by one", "graph of one", "many in a graph", "read + written there")
	for i := range g.Checks {
		c := &g.Checks[i]
		fmt.Fprintf(b, "%8d  %6.1f MB  %16s  %16s  %16s  %s\n",
			c.Envs, float64(c.Bytes)/1e6, c.Eager.text(), c.Graph.text(), c.InGraph.text(), c.bandwidth())
		if c.Reason != "" {
			fmt.Fprintf(b, "%8s  not all was measured: %s\n", "", c.Reason)
		}
	}
	if len(g.ReadOnly) > 0 {
		b.WriteString("\nScan without capture\n")
	}
	for _, c := range g.ReadOnly {
		if c.Reason != "" {
			fmt.Fprintf(b, "%-9s  not measured: %s\n", c.DType, c.Reason)
			continue
		}
		fmt.Fprintf(b, "%-9s  %8.1f MB  %8s\n", c.DType, float64(c.Bytes)/1e6, speed(c.GBPerS))
	}
	if g.Dump != nil {
		b.WriteString("\n" + g.Dump.text() + "\n")
	}
	b.WriteString("\nThe algorithm of mjlab's guard, for comparison, needs torch: bench/gpu_check.py of the repository measures both.\n")
	if g.Reason != "" {
		fmt.Fprintf(b, "Afterwards: %s\n", g.Reason)
	}
}

// text returns the two times.
func (c *callCost) text() string {
	if c == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f, %.2f", c.GPU, c.Host)
}

// bandwidth returns what a check in a graph moves.
func (c *checkCost) bandwidth() string {
	if c.InGraph == nil || c.InGraph.GPU == 0 {
		return "–"
	}
	return speed(2 * float64(c.Bytes) / c.InGraph.GPU / 1e3)
}

// speed returns a number of GB/s, which is 0 when the GPU has no clock.
func speed(gbPerS float64) string {
	if gbPerS == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f GB/s", gbPerS)
}

// text says what a dump takes.
func (c *dumpCost) text() string {
	if c.Reason != "" {
		return "No dump was measured: " + c.Reason
	}
	return fmt.Sprintf("From the check that trips to the finished dump at %d envs: %.0f ms, %.1f MB (%d frames of %d envs, and traces)",
		c.Envs, c.Millis, float64(c.Bytes)/1e6, c.Frames, c.Rows)
}
