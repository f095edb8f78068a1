package measure

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

func TestBestIsTheShortestOfAtLeastThree(t *testing.T) {
	t.Parallel()
	n := 0
	pauses := []time.Duration{4 * time.Millisecond, 0, 4 * time.Millisecond}
	best := Best(0, func() { time.Sleep(pauses[n%3]); n++ })
	assert.Equal(t, 3, n)
	assert.Less(t, best, 4*time.Millisecond)
}

func TestMedianAndRate(t *testing.T) {
	t.Parallel()
	assert.Equal(t, time.Duration(3), Median([]time.Duration{9, 1, 3}))
	assert.Equal(t, time.Duration(0), Median(nil))
	assert.Equal(t, 2.0, Rate(4e9, 2*time.Second))
	assert.Equal(t, 0.0, Rate(4e9, 0), "a driver of tests has no clock")
}

// 14 fields of 526 columns: what the issue and the results in bench/ speak of.
func TestHumanoidIsTheTaskOfTheResults(t *testing.T) {
	t.Parallel()
	assert.Len(t, Humanoid, 14)
	assert.Equal(t, 4096*526*4, HumanoidBytes(4096))
}

func TestOrdinaryValues(t *testing.T) {
	t.Parallel()
	for _, d := range HostTypes {
		ref, dst := hostArray(d, 37, 3)
		s := scan.Host(ref)
		assert.Equal(t, tensor.Finite, s.First.Class, d)
		assert.True(t, -2 <= s.Min && s.Min < -1.5 && 1.5 < s.Max && s.Max <= 2, "%v: %v to %v", d, s.Min, s.Max)
		assert.Len(t, dst, ref.Bytes())
	}
}

func TestHostMeasuresEverySize(t *testing.T) {
	t.Parallel()
	rows := Host(tensor.Float32, 0)
	require.Len(t, rows, len(hostSizes))
	for _, r := range rows {
		assert.Positive(t, min(r.AllFinite, r.Summary, r.Capture), r.Frame)
	}
	assert.Equal(t, 4096*36*4, rows[0].Bytes)
	assert.Equal(t, 64<<20, rows[2].Bytes)
	assert.Positive(t, HostCheck(16, 0))
}

func TestTimer(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		ctx, err := d.Primary(0)
		require.NoError(t, err)
		s, err := ctx.NewStream()
		require.NoError(t, err)
		p, err := ctx.Alloc(1 << 20)
		require.NoError(t, err)
		timer, err := NewTimer(ctx, s)
		require.NoError(t, err)
		gpu, host, err := timer.Time(func() error { return ctx.Memset(s, p, 1, 1<<20) })
		require.NoError(t, err)
		assert.Positive(t, host)
		assert.GreaterOrEqual(t, gpu, time.Duration(0))
		_, _, err = timer.Time(func() error { return assert.AnError })
		require.ErrorIs(t, err, assert.AnError)
		require.NoError(t, timer.Close())
		require.NoError(t, ctx.Free(p))
		require.NoError(t, ctx.DestroyStream(s))
		require.NoError(t, ctx.Close())
	})
}

func TestMachine(t *testing.T) {
	t.Parallel()
	m := ThisMachine(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC))
	assert.Equal(t, "2026-12-01", m.Date)
	assert.NotEmpty(t, m.CPU)
	assert.Positive(t, m.Cores)

	const amd = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel name\t: other\n"
	assert.Equal(t, "AMD EPYC (family 25, model 1)", cpuOf(strings.NewReader(amd), "amd64"))
	assert.Equal(t, "arm64", cpuOf(strings.NewReader("processor\t: 0\nBogoMIPS\t: 50\n"), "arm64"))

	for text, want := range map[string]string{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version: 12\n":  "535.104.05",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs-builder@U22)  Tue\n": "580.159.04",
		"": "",
	} {
		assert.Equal(t, want, driverOf(text))
	}
}
