package detect

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// idle is a driver whose launches do nothing.
type idle struct {
	cuda.Library
	launch uintptr
}

func (l *idle) Lookup(name string) (uintptr, error) {
	fn, err := l.Library.Lookup(name)
	if name == "cuLaunchKernel" {
		l.launch = fn
	}
	return fn, err
}

func (l *idle) Call(fn uintptr, args []uintptr) uintptr {
	if fn == l.launch {
		return 0
	}
	return l.Library.Call(fn, args)
}

// BenchmarkDeviceCheckHost is what a check of 14 fields on a GPU costs the host
// beside the driver's launch.
func BenchmarkDeviceCheckHost(b *testing.B) {
	lib := &idle{Library: cudatest.HostLibrary(b)}
	d, err := cuda.OpenOn(lib)
	require.NoError(b, err)
	m := newBench(b, d)
	cfg := testConfig(b, 16)
	cfg.RingBytes = 8 << 20
	g := m.guard(cfg)
	var refs []FieldRef
	for i, name := range []string{
		"qpos", "qvel", "qacc", "qacc_warmstart", "sensordata", "ctrl", "obs.policy", "obs.critic", "reward", "reward.terms", "log_prob",
		"policy.mean", "policy.std", "value",
	} {
		refs = append(refs, FieldRef{FieldID(i), m.field(g, name, 4, FieldOptions{Clock: dump.ClockStep})})
	}
	for _, on := range []struct {
		name   string
		stream uintptr
	}{{"default stream", 0}, {"a stream", uintptr(m.stream)}} {
		b.Run(on.name, func(b *testing.B) {
			defer cudatest.Enter(b, lib, m.ctx)()
			b.ReportAllocs()
			for b.Loop() {
				if err := g.CheckOn(on.stream, dump.ClockStep, refs...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
