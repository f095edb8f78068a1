package gpu

import (
	"fmt"
	"math/rand/v2"
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

// humanoid are the columns of the fields of a task with 29 degrees of freedom.
var humanoid = func() (cols []int) {
	for _, f := range measure.Humanoid {
		cols = append(cols, f.Cols)
	}
	return cols
}()

// benchEnvs are the numbers of envs that are measured.
var benchEnvs = []int{256, 4096, 16384, 65536}

// bench is an engine with the fields of the task and a stream.
type bench struct {
	*rig
	stream cuda.Stream
	args   []Arg
	bytes  int // of one frame of all fields
}

// newBench returns a bench whose rings take up to ring bytes; 0: no frames are
// kept.
func newBench(b testing.TB, d *cuda.Driver, cols []int, envs, ring int) *bench {
	c := Config{NumEnvs: envs, PostFrames: 1 << 40}
	total := 0
	for i, n := range cols {
		c.Fields = append(c.Fields, Field{DType: tensor.Float32, Rows: envs, Cols: n, Rank: i, MarkEnvs: true, TraceLen: 10_000})
		total += 4 * envs * n
	}
	for i := range c.Fields {
		c.Fields[i].Slots = min(ring/total, 10_000)
	}
	m := &bench{rig: newRig(b, d, c), bytes: total}
	r := rand.New(rand.NewPCG(1, 2))
	for i, n := range cols {
		data := make([]byte, 4*envs*n)
		for k := range envs * n {
			bits := ordinary(r, tensor.Float32)
			copy(data[4*k:], []byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
		}
		m.args = append(m.args, m.arg(i, m.put(data, 0)))
	}
	s, err := m.ctx.NewStream()
	require.NoError(b, err)
	m.stream = s
	b.Cleanup(func() { require.NoError(b, m.ctx.DestroyStream(s)) })
	return m
}

// check enqueues one check of all fields.
func (m *bench) checkAll() error { return m.Check(uintptr(m.stream), 0, true, m.args) }

// timed returns the GPU's time of what f enqueues and the host's time of
// enqueuing it.
func (m *bench) timed(b testing.TB, f func()) (gpu, host time.Duration) {
	timer, err := measure.NewTimer(m.ctx, m.stream)
	require.NoError(b, err)
	gpu, host, err = timer.Time(func() error { f(); return nil })
	require.NoError(b, err)
	require.NoError(b, timer.Close())
	return gpu, host
}

// graphOf returns a graph of n checks.
func (m *bench) graphOf(b testing.TB, n int) *cuda.Graph {
	g, err := m.ctx.Capture(m.stream, func() error {
		for range n {
			if err := m.checkAll(); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, g.Destroy()) })
	return g
}

// batch is how many checks are enqueued between two marks.
const batch = 200

// report measures f, which enqueues a batch of checks, and reports the median of
// the batches. times is how often a byte crosses the memory bus.
func (m *bench) report(b *testing.B, times int, f func()) {
	before := m.tick()
	f() // warms up
	var gpu, host []time.Duration
	for b.Loop() {
		g, h := m.timed(b, f)
		gpu, host = append(gpu, g), append(host, h)
	}
	after := m.tick()
	require.False(b, m.Poll().Tripped)
	require.EqualValues(b, batch*(b.N+1), after-before)
	b.ReportMetric(micros(gpu), "gpu-µs/check")
	b.ReportMetric(micros(host), "host-µs/check")
	b.ReportMetric(float64(times*m.bytes)/micros(gpu)/1e3, "GB/s")
	b.ReportMetric(0, "ns/op")
}

// micros returns the median of the times of a batch, for one of the batch.
func micros(batches []time.Duration) float64 {
	return float64(measure.Median(batches).Nanoseconds()) / batch / 1e3
}

// BenchmarkCheck is a check with frames captured into rings of 512 MiB:
// enqueued one by one, in a graph that is launched for each check, and in a
// graph of a whole batch, as a part of which it costs least.
func BenchmarkCheck(b *testing.B) {
	d := cudatest.GPU(b)
	for _, envs := range benchEnvs {
		m := newBench(b, d, humanoid, envs, 512<<20)
		b.Run(fmt.Sprintf("envs=%d/eager", envs), func(b *testing.B) {
			m.report(b, 2, func() {
				for range batch {
					require.NoError(b, m.checkAll())
				}
			})
		})
		b.Run(fmt.Sprintf("envs=%d/graph", envs), func(b *testing.B) {
			g := m.graphOf(b, 1)
			m.report(b, 2, func() {
				for range batch {
					require.NoError(b, g.Run(m.stream))
				}
			})
		})
		b.Run(fmt.Sprintf("envs=%d/in-graph", envs), func(b *testing.B) {
			g := m.graphOf(b, batch)
			m.report(b, 2, func() { require.NoError(b, g.Run(m.stream)) })
		})
	}
}

// BenchmarkReadOnly is a scan of 4 GiB without capture: how near the kernel
// comes to the memory's bandwidth.
func BenchmarkReadOnly(b *testing.B) {
	d := cudatest.GPU(b)
	for _, typ := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float64, tensor.Uint8} {
		const rows, cols = 1 << 20, 1024
		g := newRig(b, d, Config{Fields: []Field{{DType: typ, Rows: rows, Cols: cols * 4 / typ.Size(), TraceLen: 1}}})
		m := &bench{rig: g, bytes: g.fields[0].bytes(), stream: g.own}
		p, err := g.ctx.Alloc(m.bytes)
		require.NoError(b, err)
		require.NoError(b, g.ctx.Memset(g.own, p, 0x3c, m.bytes))
		m.args = []Arg{g.arg(0, uintptr(p))}
		b.Run(typ.String(), func(b *testing.B) {
			m.report(b, 1, func() {
				for range batch {
					require.NoError(b, m.checkAll())
				}
			})
		})
		require.NoError(b, g.ctx.SynchronizeStream(g.own))
		require.NoError(b, g.ctx.Free(p))
	}
}

// BenchmarkEnqueue is the host's time of a check by the number of its fields,
// and of the smallest launch there is, for comparison.
func BenchmarkEnqueue(b *testing.B) {
	d := cudatest.GPU(b)
	for _, n := range []int{1, 14, 48, 49, 200} {
		cols := make([]int, n)
		for i := range cols {
			cols[i] = 1
		}
		m := newBench(b, d, cols, 1, 0)
		b.Run(fmt.Sprintf("fields=%d", n), func(b *testing.B) {
			m.report(b, 1, func() {
				for range batch {
					require.NoError(b, m.checkAll())
				}
			})
		})
	}
	m := newBench(b, d, []int{1}, 1, 0)
	f, err := m.module.Function(kernel.Flush)
	require.NoError(b, err)
	fields := m.tableAt(0)
	run := m.ctx.NewLaunch(f, kernel.Threads, unsafe.Pointer(&fields))
	b.Run("launch", func(b *testing.B) {
		var host []time.Duration
		for b.Loop() {
			_, h := m.timed(b, func() {
				for range batch {
					require.NoError(b, run.Run(m.stream, 1))
				}
			})
			host = append(host, h)
		}
		b.ReportMetric(micros(host), "host-µs/launch")
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkSnapshot is the time of fetching all that a dump of seven envs needs
// at 4,096 envs: all traces, and the rows of all frames of rings of 512 MiB.
func BenchmarkSnapshot(b *testing.B) {
	d := cudatest.GPU(b)
	m := newBench(b, d, humanoid, 4096, 512<<20)
	for range 10_000 {
		require.NoError(b, m.checkAll())
	}
	require.NoError(b, m.Freeze(uintptr(m.stream)))
	for b.Loop() {
		s, err := m.Snapshot()
		require.NoError(b, err)
		n := 0
		for i := range humanoid {
			trace, err := s.Trace(i)
			require.NoError(b, err)
			f, err := s.Frames(i, []int{17, 901, 2000, 2001, 2002, 4000, 4095})
			require.NoError(b, err)
			n += len(trace)*80 + len(f.Values.Data)
		}
		b.SetBytes(int64(n))
	}
}
