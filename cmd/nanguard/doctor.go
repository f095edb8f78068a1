package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/measure"
)

// health is the JSON of the doctor command.
type health struct {
	GPU  gpuHealth  `json:"gpu"`
	Host hostHealth `json:"host"`
}

// gpuHealth says whether a guard can watch memory of a GPU here.
type gpuHealth struct {
	Usable  bool        `json:"usable"`
	Reason  string      `json:"reason,omitempty"` // why not
	Need    string      `json:"need,omitempty"`   // what it would take
	Devices []gpuDevice `json:"devices"`
}

// gpuDevice is one GPU.
type gpuDevice struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	MiB    int64  `json:"mib"`
	Reason string `json:"reason,omitempty"` // why it is not usable
}

// hostHealth is what a check of host memory costs here.
type hostHealth struct {
	What   string  `json:"what"`
	Bytes  int     `json:"bytes"` // of all fields of a check
	Millis float64 `json:"ms"`    // that scanning them takes
	GBPerS float64 `json:"gb_per_s"`
}

// newDoctor returns the doctor command.
func newDoctor(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what of the guard is usable on this machine, and what a check costs on its host",
		Args:  cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			h := health{GPU: examineGPU(), Host: examineHost()}
			if g.json {
				return writeJSON(c.OutOrStdout(), h)
			}
			return h.print(c.OutOrStdout())
		},
	}
}

// examineGPU asks the driver.
func examineGPU() gpuHealth {
	h := gpuHealth{Devices: []gpuDevice{}}
	d, err := cuda.Open()
	n := 0
	if err == nil {
		n, err = d.Devices()
	}
	for i := range n {
		dev, err := d.Device(i)
		entry := gpuDevice{Number: i, Name: dev.Name, MiB: dev.Memory >> 20}
		if err != nil {
			entry.Reason = cli.OneLine(err.Error())
		}
		h.Usable = h.Usable || err == nil
		h.Devices = append(h.Devices, entry)
	}
	var u *cuda.UnsupportedError
	switch {
	case errors.As(err, &u):
		h.Reason, h.Need = u.Reason, u.Need
	case err != nil:
		h.Reason = cli.OneLine(err.Error())
	case n == 0:
		h.Reason = "the driver sees no GPU"
	}
	return h
}

// examineHost makes the check of a humanoid task at 4,096 envs a few times.
func examineHost() hostHealth {
	const envs = 4096
	bytes := measure.HumanoidBytes(envs)
	best := measure.HostCheck(envs, 20*time.Millisecond)
	return hostHealth{
		What:  "14 fields of a 29-dof humanoid task at 4,096 envs, scanned and copied on one core",
		Bytes: bytes, Millis: best.Seconds() * 1e3, GBPerS: measure.Rate(bytes, best),
	}
}

// why says why no GPU is usable, and what it would take.
func (g *gpuHealth) why() string {
	why := cmp.Or(g.Reason, "no GPU here is fit for it")
	if g.Need != "" {
		why += " (needed: " + g.Need + ")"
	}
	return cli.OneLine(why)
}

// print says it for a person.
func (h *health) print(w io.Writer) error {
	gpu := "usable; nanguard bench measures what checks and a dump cost there"
	if !h.GPU.Usable {
		gpu = "not usable: " + h.GPU.why()
	}
	text := fmt.Sprintf("guard on a GPU    %s\n", cli.OneLine(gpu))
	for _, d := range h.GPU.Devices {
		line := fmt.Sprintf("%d: %s, %d MiB", d.Number, d.Name, d.MiB)
		if d.Reason != "" {
			line += ": " + d.Reason
		}
		text += "                  " + cli.OneLine(line) + "\n"
	}
	text += fmt.Sprintf("guard on the host usable: a check of %.1f MB takes %.1f ms (%.1f GB/s; %s)\n",
		float64(h.Host.Bytes)/1e6, h.Host.Millis, h.Host.GBPerS, h.Host.What)
	_, err := io.WriteString(w, text)
	return err
}
