package main

import (
	"bytes"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/measure"
)

// The table with what may be missing in it: a number of envs for which there was
// no memory, a type that failed, a driver that does not tell its version.
func TestBenchTable(t *testing.T) {
	t.Parallel()
	r := benchResult{
		Machine: measure.Machine{
			Nanguard: "v1", Date: "2026-12-01", OS: "linux/amd64", CPU: "Some CPU", Cores: 16, Scanner: "AVX2", GPU: "0: NVIDIA H200", CUDA: "13.0",
		},
		Host: []measure.HostRow{{DType: "float32", Frame: "4,096 x 36", AllFinite: 92.73, Summary: 16.03, Capture: 11.86}},
		GPU: gpuCosts{
			gpuHealth: gpuHealth{Usable: true, Reason: "the stream was lost"},
			Checks: []checkCost{
				{Envs: 4096, Bytes: 8617984, Eager: &callCost{6.807, 5.659}, Graph: &callCost{6.746, 3.653}, InGraph: &callCost{5.959, 0.036}},
				{Envs: 65536, Bytes: 137887744, Eager: &callCost{75.0, 5.1}, Reason: "out of memory"},
			},
			ReadOnly: []readCost{{DType: "float32", Bytes: 4 << 30, GBPerS: 4647}, {DType: "float64", Reason: "out of memory"}},
			Dump:     &dumpCost{Envs: 4096, Millis: 85.2, Bytes: 12_345_678, Frames: 62, Rows: 3},
		},
	}
	var out bytes.Buffer
	require.NoError(t, r.print(&out))
	golden.RequireEqual(t, out.Bytes())
}
