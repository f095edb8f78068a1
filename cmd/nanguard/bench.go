package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/measure"
)

// benchFlags are the flags of the bench command.
type benchFlags struct {
	envs    []int
	device  int
	seconds float64
}

// benchResult is the JSON of the bench command.
type benchResult struct {
	Machine measure.Machine   `json:"machine"`
	Host    []measure.HostRow `json:"host"`
	GPU     gpuCosts          `json:"gpu"`
}

// newBench returns the bench command.
func newBench(g *globals) *cobra.Command {
	x := benchFlags{envs: []int{256, 4096, 16384, 65536}, seconds: 0.3}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure what checks and a dump cost on this machine",
		Long: "bench measures how fast the scanner reads host memory and, where a CUDA GPU is usable, what a check of the 14\n" +
			"fields of a 29-dof humanoid task takes of the GPU and of the host, how fast a scan reads the GPU's memory, and how\n" +
			"long it is from a trip to the finished dump. It takes a minute; other work on the machine makes the numbers worse.",
		Example: "  nanguard bench\n  nanguard bench --envs 4096 --json > cost.json\n  nanguard bench --device -1    the host alone",
		Args:    cli.Args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return g.bench(c, x) },
	}
	c.Flags().IntSliceVar(&x.envs, "envs", x.envs, "numbers of envs to measure on the GPU")
	c.Flags().IntVar(&x.device, "device", 0, "number of the GPU, -1 for none")
	c.Flags().Float64Var(&x.seconds, "seconds", x.seconds, "time for each figure")
	return c
}

// bench measures and prints.
func (g *globals) bench(c *cobra.Command, x benchFlags) error {
	if err := x.validate(); err != nil {
		return err
	}
	p := newProgress(c.ErrOrStderr())
	say := func(format string, args ...any) {
		if p.terminal {
			p.say(fmt.Sprintf(format, args...))
		}
	}
	each := time.Duration(x.seconds * float64(time.Second))
	r := benchResult{Machine: measure.ThisMachine(time.Now())}
	err := r.measureHost(c.Context(), each, say)
	if err == nil {
		err = r.measureGPU(c.Context(), x, each, say)
	}
	p.end()
	switch {
	case err != nil:
		return err
	case g.json:
		return writeJSON(c.OutOrStdout(), r)
	}
	return r.print(c.OutOrStdout())
}

// validate refuses what cannot be measured.
func (x *benchFlags) validate() error {
	for _, n := range x.envs {
		if n < 1 || n > 1<<24 {
			return cli.Usagef("--envs %d: want 1 to %d", n, 1<<24)
		}
	}
	if !(x.seconds >= 0 && x.seconds <= 60) {
		return cli.Usagef("--seconds %v: want 0 to 60", x.seconds)
	}
	if x.device < -1 {
		return cli.Usagef("--device %d: want the number of a GPU, or -1 for none", x.device)
	}
	return nil
}

// measureHost measures the scanner of host memory.
func (r *benchResult) measureHost(ctx context.Context, each time.Duration, say func(string, ...any)) error {
	for _, d := range measure.HostTypes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		say("host: %v", d)
		r.Host = append(r.Host, measure.Host(d, each)...)
	}
	return nil
}

// measureGPU measures checks on a GPU. Only an interruption is an error: a
// machine without a GPU, or one on which it fails, has a reason.
func (r *benchResult) measureGPU(ctx context.Context, x benchFlags, each time.Duration, say func(string, ...any)) error {
	r.GPU = gpuCosts{gpuHealth: examineGPU(), Checks: []checkCost{}, ReadOnly: []readCost{}}
	switch n := len(r.GPU.Devices); {
	case x.device < 0:
		r.GPU.Reason, r.GPU.Need, r.GPU.Usable = "it was not asked for", "", false
	case x.device >= n && n > 0:
		r.GPU.Reason, r.GPU.Usable = fmt.Sprintf("there is no GPU %d: this process sees %d", x.device, n), false
	case n > 0 && r.GPU.Devices[x.device].Reason != "":
		r.GPU.Reason, r.GPU.Usable = r.GPU.Devices[x.device].Reason, false
	}
	if !r.GPU.Usable {
		return nil
	}
	d, err := cuda.Open()
	if err != nil {
		return err
	}
	r.Machine.GPU = cli.OneLine(fmt.Sprintf("%d: %s", x.device, r.GPU.Devices[x.device].Name))
	r.Machine.Driver, r.Machine.CUDA = measure.DriverVersion(), d.Version().String()
	m := gpuMeter{driver: d, device: x.device, each: each, say: say}
	return m.run(ctx, x.envs, &r.GPU)
}
