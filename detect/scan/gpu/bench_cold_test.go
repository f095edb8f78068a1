package gpu

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/internal/measure"
	"github.com/nanguard/nanguard/tensor"
)

// physics are the fields of a quadruped's substep: ctrl, qacc, qacc_warmstart,
// qvel, qpos, sensordata, and as integers nefc and solver_niter.
var physics = []Field{{Cols: 12}, {Cols: 18}, {Cols: 18}, {Cols: 18}, {Cols: 19}, {Cols: 30}, {Cols: 1, DType: tensor.Int32}, {Cols: 1, DType: tensor.Int32}}

// BenchmarkCheckAmongOthers is a check in a graph in which other work comes
// between two checks, as a simulator's does: it drives the fields out of the
// caches (a large memset), and the kernel's code (a kernel of 220 kB of code).
// What the others take by themselves is measured and taken off.
func BenchmarkCheckAmongOthers(b *testing.B) {
	d := cudatest.GPU(b)
	var task []Field
	for _, n := range humanoid {
		task = append(task, Field{Cols: n})
	}
	for _, set := range []struct {
		name   string
		fields []Field
	}{{"humanoid", task}, {"substep", physics}} {
		m := newColdBench(b, d, 4096, set.fields)
		for _, others := range []struct {
			name       string
			data, code bool
		}{{"nothing", false, false}, {"data", true, false}, {"code", false, true}, {"data+code", true, true}} {
			b.Run(set.name+"/"+others.name, func(b *testing.B) {
				both, alone := m.among(b, others.data, others.code, true), m.among(b, others.data, others.code, false)
				var took []time.Duration
				for b.Loop() {
					g, _ := m.timed(b, func() { require.NoError(b, both.Run(m.stream)) })
					o, _ := m.timed(b, func() { require.NoError(b, alone.Run(m.stream)) })
					took = append(took, g-o)
				}
				b.ReportMetric(float64(measure.Median(took).Nanoseconds())/coldBatch/1e3, "gpu-µs/check")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// coldBatch is how many checks one graph holds.
const coldBatch = 40

// coldBench is a bench with what drives its checks out of the caches.
type coldBench struct {
	*bench
	room cuda.Ptr // twice the size of a large cache
	long *cuda.Launch
}

// coldRoom is the size of the memory that is written between two checks.
const coldRoom = 128 << 20

func newColdBench(b *testing.B, d *cuda.Driver, envs int, fields []Field) *coldBench {
	c := Config{NumEnvs: envs, PostFrames: 1 << 40}
	for i, f := range fields {
		if f.DType == 0 {
			f.DType = tensor.Float32
		}
		f.Rows, f.Rank, f.MarkEnvs, f.TraceLen, f.Slots = envs, i, true, 1000, 50
		c.Fields = append(c.Fields, f)
	}
	m := &coldBench{bench: &bench{rig: newRig(b, d, c)}}
	for i := range c.Fields {
		m.args = append(m.args, m.arg(i, m.put(make([]byte, c.Fields[i].bytes()), 0)))
	}
	var err error
	m.stream, err = m.ctx.NewStream()
	require.NoError(b, err)
	m.room, err = m.ctx.Alloc(coldRoom)
	require.NoError(b, err)
	module, err := m.ctx.Load(longKernel(14_000))
	require.NoError(b, err)
	f, err := module.Function("long")
	require.NoError(b, err)
	m.long = m.ctx.NewLaunch(f, kernel.Threads, unsafe.Pointer(&m.room))
	b.Cleanup(func() {
		require.NoError(b, m.ctx.SynchronizeStream(m.stream))
		require.NoError(b, module.Unload())
		require.NoError(b, m.ctx.Free(m.room))
		require.NoError(b, m.ctx.DestroyStream(m.stream))
	})
	return m
}

// among returns a graph of a batch of what comes between checks, with the checks
// or without them.
func (m *coldBench) among(b *testing.B, data, code, checks bool) *cuda.Graph {
	g, err := m.ctx.Capture(m.stream, func() (err error) {
		for i := 0; i < coldBatch && err == nil; i++ {
			if data {
				err = m.ctx.Memset(m.stream, m.room, 0, coldRoom)
			}
			if code && err == nil {
				err = m.long.Run(m.stream, 4*m.ctx.Device.Multiprocessors)
			}
			if checks && err == nil {
				err = m.checkAll()
			}
		}
		return err
	})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, g.Destroy()) })
	return g
}

// longKernel returns the PTX of a kernel of n instructions in a row, about 16
// bytes each.
func longKernel(n int) string {
	var s strings.Builder
	s.WriteString(".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry long(.param .u64 p) {\n.reg .f32 %f<8>;\n.reg .u64 %p;\nld.param.u64 %p, [p];\n")
	for i := range 8 {
		fmt.Fprintf(&s, "ld.global.f32 %%f%d, [%%p+%d];\n", i, 4*i)
	}
	for i := range n {
		fmt.Fprintf(&s, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%[1]d;\n", i%8, (i+3)%8, (i+5)%8)
	}
	for i := range 8 {
		fmt.Fprintf(&s, "st.global.f32 [%%p+%d], %%f%d;\n", 4*i, i)
	}
	s.WriteString("ret;\n}\n")
	return s.String()
}
