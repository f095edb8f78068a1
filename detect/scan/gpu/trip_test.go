package gpu

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// envs is how many envs the fields of these tests have.
const envs = 50

// f32 returns a field of float32 of that rank, with a ring of four frames.
func f32(rank, cols int) Field {
	return Field{DType: tensor.Float32, Rows: envs, Cols: cols, Rank: rank, MarkEnvs: true, Slots: 4, TraceLen: 8}
}

// threeFields are two fields that may trip, bound in the opposite order of
// their rank, and a monitor before them.
func threeFields() Config {
	monitor := f32(1, 2)
	monitor.Monitor, monitor.MarkEnvs = true, false
	return Config{NumEnvs: envs, Fields: []Field{f32(3, 4), f32(2, 3), monitor}}
}

func TestTripIsTheFirstInTheLoop(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, threeFields())
		fine := g.put(repeat(envs*4, 1, nil), 0)
		g.check(0, fine, fine, g.put(repeat(envs*2, 1, map[int]float32{0: nan}), 0))
		g.sync()
		require.Equal(t, Verdict{}, g.Poll(), "a monitor takes no trip")

		late := g.put(repeat(envs*4, 1, map[int]float32{1: inf, 7: nan}), 0)
		early := g.put(repeat(envs*3, 1, map[int]float32{3 * 8: -inf, 3*8 + 1: nan, 3 * 20: nan}), 0)
		require.NoError(t, g.Check(0, 1, true, []Arg{g.arg(0, late), g.arg(1, early)}))
		g.sync()
		want := Verdict{
			Tripped: true, Frozen: true, Clock: 1, Seq: *g.News(),
			Trip: Bad{Field: 1, Tick: 2, Count: 1, Row: 8, Col: 0, Class: Class(tensor.NegInf)},
		}
		require.Equal(t, want, g.Poll())

		s, err := g.Snapshot()
		require.NoError(t, err)
		requireFirstBad(t, s, 0, Bad{Field: 0, Tick: 2, Count: 1, Row: 0, Col: 1, Class: Class(tensor.PosInf), Rows: 2})
		requireFirstBad(t, s, 1, Bad{Field: 1, Tick: 2, Count: 1, Row: 8, Col: 0, Class: Class(tensor.NegInf), Rows: 2})
		requireFirstBad(t, s, 2, Bad{Field: 2, Tick: 1, Count: 1, Row: 0, Col: 0, Class: Class(tensor.NaN), Rows: 1})
		bad, err := s.BadEnvs()
		require.NoError(t, err)
		assert.Equal(t, []BadEnv{{8, 2, 2}, {20, 2, 2}, {0, 2, 3}, {1, 2, 3}}, bad)
		assert.EqualValues(t, 1, s.Clock(0))
		assert.EqualValues(t, 1, s.Clock(1))
	})
}

func requireFirstBad(t *testing.T, s *Snapshot, field int, want Bad) {
	t.Helper()
	got, ok := s.FirstBad(field)
	require.True(t, ok)
	require.Equal(t, want, got)
}

// NaN in the very first frame is found as any other.
func TestTripInTheFirstFrame(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, Config{NumEnvs: envs, Fields: []Field{f32(0, 1)}})
		g.check(0, g.put(repeat(envs, nan, nil), 0))
		g.sync()
		require.True(t, g.Poll().Frozen)
		s, err := g.Snapshot()
		require.NoError(t, err)
		requireFirstBad(t, s, 0, Bad{Tick: 1, Count: 1, Class: Class(tensor.NaN), Rows: envs})
		trace, err := s.Trace(0)
		require.NoError(t, err)
		require.Equal(t, []Row{{Tick: 1, Count: 1, NaN: envs}}, trace)
	})
}

// After the trip PostFrames more counts of the tripping clock are recorded,
// with all that other clocks do meanwhile; then nothing is written, but checks
// go on counting.
func TestPostFrames(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := threeFields()
		c.PostFrames = 2
		g := newRig(t, d, c)
		fine, bad := g.put(repeat(envs*4, 1, nil), 0), g.put(repeat(envs*4, nan, nil), 0)
		args := []Arg{g.arg(0, bad)}
		require.NoError(t, g.Check(0, 0, true, args))                  // tick 1, count 1: the trip
		require.NoError(t, g.Check(0, 0, false, args))                 // tick 2
		require.NoError(t, g.Check(0, 0, true, args))                  // tick 3, count 2
		require.NoError(t, g.Check(0, 1, true, []Arg{g.arg(1, fine)})) // tick 4 of the other clock
		g.sync()
		require.False(t, g.Poll().Frozen)
		require.NoError(t, g.Check(0, 0, true, []Arg{g.arg(0, fine)})) // tick 5, count 3: the last
		require.NoError(t, g.Check(0, 0, true, args))                  // tick 6
		require.NoError(t, g.Check(0, 1, true, []Arg{g.arg(1, bad)}))  // tick 7
		require.NoError(t, g.Check(0, 0, false, nil))                  // tick 8
		g.sync()
		v := g.Poll()
		require.True(t, v.Frozen)
		require.EqualValues(t, 1, v.Trip.Tick)

		s, err := g.Snapshot()
		require.NoError(t, err)
		f, err := s.Frames(0, []int{0})
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 2, 3, 5}, f.Ticks)
		assert.Equal(t, []int64{1, 1, 2, 3}, f.Counts)
		assert.Equal(t, tensor.NaN, f.Values.Class(0))
		assert.EqualValues(t, 1, f.Values.Float64(3*4))
		_, bad1 := s.FirstBad(1)
		assert.False(t, bad1, "what came after the end was not looked at")
		assert.EqualValues(t, 8, s.Tick())
		assert.EqualValues(t, 4, s.Clock(0))
		assert.EqualValues(t, 2, s.Clock(1))
	})
}

func TestLimits(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		limited, growing := f32(0, 2), f32(1, 2)
		limited.Limit = 100
		growing.Growth, growing.GrowthFrames, growing.Floor = 10, 2, 5
		for _, c := range []struct {
			name    string
			first   [5]float32 // of the limited field, frame by frame
			second  [5]float32
			trip    int64 // tick, 0: none
			field   int
			class   Class
			row, at int // of the trip's value
		}{
			{"quiet", [5]float32{1, 2, 3, 2, 100}, [5]float32{1, 2, 4, 8, 16}, 0, 0, 0, 0, 0},
			{"over the limit", [5]float32{1, 1, 101, 1, 1}, [5]float32{1, 1, 1, 1, 1}, 3, 0, OverLimit, 7, 1},
			{"below minus the limit", [5]float32{1, 1, -101, 1, 1}, [5]float32{1, 1, 1, 1, 1}, 3, 0, OverLimit, 7, 1},
			{"grown", [5]float32{1, 1, 1, 1, 1}, [5]float32{1, 2, 3, 4, 31}, 5, 1, Grown, 7, 1},
			{"grown as far as it may", [5]float32{1, 1, 1, 1, 1}, [5]float32{1, 2, 3, 4, 30}, 0, 0, 0, 0, 0},
			{"grown below the floor", [5]float32{1, 1, 1, 1, 1}, [5]float32{.1, .1, 5, .1, .1}, 0, 0, 0, 0, 0},
			{"too early to tell", [5]float32{1, 1, 1, 1, 1}, [5]float32{1, 90, 1, 1, 1}, 0, 0, 0, 0, 0},
			{"a bad value goes before a limit", [5]float32{1, 1, 101, 1, 1}, [5]float32{1, 1, nan, 1, 1}, 3, 1, Class(tensor.NaN), 7, 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				g := newRig(t, d, Config{NumEnvs: envs, Fields: []Field{limited, growing}})
				for i := range c.first {
					g.check(0,
						g.put(repeat(envs*2, 0.01, map[int]float32{15: c.first[i]}), 0),
						g.put(repeat(envs*2, 0.01, map[int]float32{15: c.second[i]}), 0))
				}
				g.sync()
				v := g.Poll()
				require.Equal(t, c.trip != 0, v.Tripped)
				if v.Tripped {
					require.Equal(t, Bad{Field: c.field, Tick: c.trip, Count: c.trip, Row: c.row, Col: c.at, Class: c.class}, v.Trip)
				}
			})
		}
	})
}

func TestRearm(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, threeFields())
		fine, bad := g.put(repeat(envs*4, 1, nil), 0), g.put(repeat(envs*4, 1, map[int]float32{9: nan}), 0)
		g.check(0, fine, fine, fine)
		g.check(0, bad, fine, fine)
		g.sync()
		heard := g.Poll().Seq
		require.NotZero(t, heard)
		require.True(t, g.Poll().Frozen)
		require.NoError(t, g.Rearm(0))
		g.sync()
		require.Equal(t, Verdict{Rearms: 1, Seq: *g.News()}, g.Poll())
		require.NotEqual(t, heard, *g.News(), "who looks at nothing else must see that there is news")
		require.Equal(t, *g.News(), g.Poll().Seq)

		g.check(0, fine, fine, fine)
		s := g.freeze()
		_, ok := s.FirstBad(0)
		assert.False(t, ok)
		envsBad, err := s.BadEnvs()
		require.NoError(t, err)
		assert.Empty(t, envsBad)
		f, err := s.Frames(0, nil)
		require.NoError(t, err)
		assert.Equal(t, []int64{3}, f.Ticks, "the rings are empty after Rearm")
		trace, err := s.Trace(0)
		require.NoError(t, err)
		assert.Len(t, trace, 3, "the trace goes on")

		require.NoError(t, g.Rearm(0))
		g.check(0, fine, bad, fine)
		g.sync()
		v := g.Poll()
		require.True(t, v.Tripped)
		assert.Equal(t, Bad{Field: 1, Tick: 4, Count: 4, Row: 3, Col: 0, Class: Class(tensor.NaN)}, v.Trip)
		s, err = g.Snapshot()
		require.NoError(t, err)
		requireFirstBad(t, s, 1, Bad{Field: 1, Tick: 4, Count: 4, Row: 3, Class: Class(tensor.NaN), Rows: 1})
	})
}

// A row of which two readers see a bad value each is one bad row.
func TestRowsAreCountedOnce(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		const cols = 20_000 // 80 kB a row, so several readers each
		g := newRig(t, d, Config{Fields: []Field{{DType: tensor.Float32, Rows: 3, Cols: cols, TraceLen: 1}}})
		at := map[int]float32{}
		for c := cols; c < 2*cols; c += 1000 {
			at[c] = nan
		}
		at[3*cols-1] = inf
		g.check(0, g.put(repeat(3*cols, 1, at), 0))
		g.sync()
		s, err := g.Snapshot()
		require.NoError(t, err)
		requireFirstBad(t, s, 0, Bad{Tick: 1, Count: 1, Row: 1, Class: Class(tensor.NaN), Rows: 2})
	})
}

// Freeze and Resume leave everything as it is, but for what was not recorded
// in between; after a trip Resume changes nothing.
func TestFreezeAndResume(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, threeFields())
		fine, bad := g.put(repeat(envs*4, 1, nil), 0), g.put(repeat(envs*4, nan, nil), 0)
		g.check(0, fine)
		g.freeze()
		g.check(0, bad)
		require.NoError(t, g.Resume(0))
		g.check(0, fine)
		f, err := g.freeze().Frames(0, []int{1})
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 3}, f.Ticks)
		require.Equal(t, Verdict{Frozen: true, Rearms: 1, Seq: *g.News()}, g.Poll())

		require.NoError(t, g.Resume(0))
		g.check(0, bad)
		g.sync()
		v := g.Poll()
		require.True(t, v.Tripped && v.Frozen)
		require.NoError(t, g.Resume(0))
		g.check(0, fine)
		g.sync()
		v.Rearms, v.Seq = v.Rearms+1, *g.News()
		require.Equal(t, v, g.Poll())
		s, err := g.Snapshot()
		require.NoError(t, err)
		f, err = s.Frames(0, []int{1})
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 3, 4}, f.Ticks)
		require.NoError(t, g.Rearm(0))
		g.sync()
		require.Equal(t, Verdict{Rearms: 4, Seq: *g.News()}, g.Poll())
	})
}

// What is asked for comes to pass at the end of the next check, which is not
// recorded, at once with Thaw, or before another freeze.
func TestAskRearm(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, threeFields())
		fine, bad := g.put(repeat(envs*4, 1, nil), 0), g.put(repeat(envs*4, 1, map[int]float32{9: nan}), 0)
		trip := func() {
			t.Helper()
			g.check(0, bad, fine, fine)
			g.sync()
			require.True(t, g.Poll().Tripped)
		}
		ticks := func(s *Snapshot) []int64 {
			f, err := s.Frames(0, []int{1})
			require.NoError(t, err)
			return f.Ticks
		}
		g.check(0, fine, fine, fine)
		trip() // 2
		require.NoError(t, g.AskRearm())
		g.sync()
		require.True(t, g.Poll().Frozen, "no check has come")
		g.check(0, bad, fine, fine) // 3
		g.sync()
		require.Equal(t, Verdict{Rearms: 1, Seq: *g.News()}, g.Poll())
		g.check(0, fine, fine, fine) // 4
		require.NoError(t, g.Thaw(0))
		s := g.freeze()
		assert.Equal(t, []int64{4}, ticks(s), "thaw had nothing to do")
		_, ok := s.FirstBad(0)
		assert.False(t, ok)
		envsBad, err := s.BadEnvs()
		require.NoError(t, err)
		assert.Empty(t, envsBad)

		require.NoError(t, g.AskResume())
		require.NoError(t, g.Thaw(0))
		g.check(0, fine, fine, fine) // 5
		trip()                       // 6
		s, err = g.Snapshot()
		require.NoError(t, err)
		assert.Equal(t, []int64{4, 5, 6}, ticks(s))
		requireFirstBad(t, s, 0, Bad{Field: 0, Tick: 6, Count: 6, Row: 2, Col: 1, Class: Class(tensor.NaN), Rows: 1})

		require.NoError(t, g.AskRearm())
		s = g.freeze()
		require.Equal(t, Verdict{Frozen: true, Rearms: 3, Seq: *g.News()}, g.Poll())
		assert.Empty(t, ticks(s))
		require.NoError(t, g.AskResume())
		g.sync()
		require.NoError(t, g.Check(0, 0, true, nil)) // 7
		trip()                                       // 8
		trace, err := g.freeze().Trace(0)
		require.NoError(t, err)
		assert.EqualValues(t, 8, trace[len(trace)-1].Tick)
	})
}

// Graphs run on while the engine trips, is looked at and rearmed, time and again:
// every check counts, and each time the recorder begins between two checks.
func TestRearmWhileGraphsRun(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		const fields = 50 // more than one launch has
		rounds, rows := 4, 10
		if strings.HasSuffix(t.Name(), "/gpu") {
			rounds, rows = 100, 3000
		}
		var c Config
		for i := range fields {
			c.Fields = append(c.Fields, Field{DType: tensor.Float32, Rows: rows, Cols: 4, Rank: i, Slots: 2, TraceLen: 4})
		}
		g := newRig(t, d, c)
		s := g.stream()
		addrs := make([]uintptr, fields)
		fine := g.put(repeat(rows*4, 1, nil), 0)
		for i := range addrs {
			addrs[i] = fine
		}
		addrs[fields-1] = g.put(repeat(rows*4, 1, map[int]float32{4 * (rows - 1): nan}), 0)
		graph := g.graph(s, 0, addrs...)
		var n, dealt int64
		run := func(k int64) {
			t.Helper()
			for range k {
				require.NoError(t, graph.Run(cuda.Stream(s)))
			}
			n += k
		}
		for round := range rounds {
			for g.Poll().Trip.Tick <= dealt {
				run(3)
			}
			dealt = g.Poll().Trip.Tick
			snap, err := g.Snapshot()
			require.NoError(t, err)
			for _, field := range []int{0, fields - 1} {
				f, err := snap.Frames(field, []int{rows - 1})
				require.NoError(t, err)
				require.Equal(t, []int64{dealt}, f.Ticks, "round %d", round)
			}
			requireFirstBad(t, snap, fields-1, Bad{Field: fields - 1, Tick: dealt, Count: dealt, Row: rows - 1, Class: Class(tensor.NaN), Rows: 1})
			run(2)
			require.NoError(t, g.AskRearm())
		}
		require.NoError(t, g.ctx.SynchronizeStream(g.own))
		run(1)
		require.NoError(t, g.ctx.SynchronizeStream(cuda.Stream(s)))
		tick := g.tick()
		assert.Equal(t, n, tick, "every check counts")
		assert.Equal(t, rounds, g.Poll().Rearms)
	})
}

// Who freezes and resumes out of order with graphs that run may get a frame of which
// only a part was recorded, and nothing worse: every check counts, and in the end the
// recorder is as good as ever.
func TestFreezeOutOfOrder(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		const fields = 50
		rounds, rows := 4, 10
		if strings.HasSuffix(t.Name(), "/gpu") {
			rounds, rows = 300, 20_000
		}
		types := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Uint8}
		var c Config
		for i := range fields {
			c.Fields = append(c.Fields, Field{DType: types[i%4], Rows: rows, Cols: 2, Rank: i, Slots: 2, TraceLen: 4})
		}
		g := newRig(t, d, c)
		graphs, other := g.stream(), g.stream()
		data := g.put(make([]byte, rows*2*8), 0)
		addrs := make([]uintptr, fields)
		for i := range addrs {
			addrs[i] = data
		}
		graph := g.graph(graphs, 0, addrs...)
		run := func(n int) {
			t.Helper()
			for range n {
				require.NoError(t, graph.Run(cuda.Stream(graphs)))
			}
		}
		for range rounds {
			run(3)
			require.NoError(t, g.Freeze(other))
			run(2)
			require.NoError(t, g.ctx.SynchronizeStream(cuda.Stream(other)))
			require.NoError(t, g.Resume(other))
		}
		run(1)
		g.sync()
		tick := g.tick()
		assert.EqualValues(t, 5*rounds+1, tick)
		run(2)
		g.sync()
		s := g.freeze()
		for i := range fields {
			f, err := s.Frames(i, []int{0})
			require.NoError(t, err)
			require.Equal(t, []int64{tick + 1, tick + 2}, f.Ticks, "field %d", i)
		}
	})
}
