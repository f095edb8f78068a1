package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
	"github.com/nanguard/nanguard/tensor"
)

// numbered returns n float32 values that start at from and count up.
func numbered(n int, from float32) []byte {
	v := make([]float32, n)
	for i := range v {
		v[i] = from + float32(i)
	}
	return bytesOfSlice(v)
}

// TestRingsWrap records more frames than rings and traces hold and reads some
// rows of what is left.
func TestRingsWrap(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		const rows, cols = 6, 5
		for _, n := range []int{0, 1, 3, 4, 5, 7, 8, 9, 19} {
			g := newRig(t, d, Config{Fields: []Field{{DType: tensor.Float32, Rows: rows, Cols: cols, Slots: 4, TraceLen: 7}}})
			for i := range n {
				g.check(2, g.put(numbered(rows*cols, float32(100*i)), 0))
			}
			s := g.freeze()
			trace, err := s.Trace(0)
			require.NoError(t, err)
			require.Len(t, trace, min(n, 7))
			for k, r := range trace {
				i := n - len(trace) + k
				want := Row{
					Tick: int64(i + 1), Count: int64(i + 1), AbsMax: float64(100*i + 29), ArgMax: 5,
					Min: float64(100 * i), Max: float64(100*i + 29), Mean: float64(100*i) + 14.5,
				}
				require.Equal(t, want, r)
			}
			f, err := s.Frames(0, []int{4, 1, 2})
			require.NoError(t, err)
			require.Equal(t, []int{min(n, 4), 3, cols}, f.Values.Shape)
			for k := range f.Ticks {
				i := n - len(f.Ticks) + k
				require.EqualValues(t, i+1, f.Ticks[k])
				for j, row := range []int{4, 1, 2} {
					require.EqualValues(t, 100*i+row*cols, f.Values.Frame(k).Frame(j).Float64(0), "frame %d row %d", i, row)
				}
			}
		}
	})
}

// Rows that stand further apart than a two-dimensional copy can step are
// fetched one by one.
func TestFramesOfLargeFields(t *testing.T) {
	d := cudatest.Host(t)
	dev, err := d.Device(0)
	require.NoError(t, err)
	cols := dev.MaxPitch/8 + 10
	g := newRig(t, d, Config{Fields: []Field{{DType: tensor.Float32, Rows: 3, Cols: cols, Slots: 3, TraceLen: 3}}})
	for i := range 4 {
		g.check(0, g.put(repeat(3*cols, float32(i), map[int]float32{cols: float32(10 * i)}), 0))
	}
	f, err := g.freeze().Frames(0, []int{1})
	require.NoError(t, err)
	for k := range 3 {
		assert.EqualValues(t, 10*(k+1), f.Values.Frame(k).Float64(0))
		assert.EqualValues(t, k+1, f.Values.Frame(k).Float64(1))
	}
}

func TestFramesOfRowsThatAreNot(t *testing.T) {
	g := newRig(t, cudatest.Host(t), Config{Fields: []Field{{DType: tensor.Float32, Rows: 3, Cols: 1, Slots: 3, TraceLen: 3}}})
	g.check(0, g.put(numbered(3, 0), 0))
	_, err := g.freeze().Frames(0, []int{3})
	require.ErrorContains(t, err, "frames of field 0: rows 3 to 3 of 3")
}

// A field may be traced without keeping frames, and frames may be kept of
// integers, whose trace has no counts.
func TestFieldsWithoutFrames(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, Config{Fields: []Field{
			{DType: tensor.Float64, Rows: 1, Cols: 2, TraceLen: 2},
			{DType: tensor.Int32, Rows: 1, Cols: 3, Rank: 1, Slots: 1, TraceLen: 1},
			{DType: tensor.Bool, Rows: 0, Cols: 3, Rank: 2, Slots: 1, TraceLen: 1},
		}})
		g.check(0, g.put(bytesOfSlice([]float64{-4, 1}), 0), g.put(bytesOfSlice([]int32{-7, 2, 5}), 0), 0)
		require.NoError(t, g.Check(0, 0, true, []Arg{{Field: 2}}))
		s := g.freeze()
		for field, want := range []Row{
			{Tick: 1, Count: 1, AbsMax: 4, Min: -4, Max: 1, Mean: -1.5},
			{Tick: 1, Count: 1, AbsMax: 7, Min: -7, Max: 5},
			{Tick: 2, Count: 2},
		} {
			trace, err := s.Trace(field)
			require.NoError(t, err)
			assert.Equal(t, []Row{want}, trace)
		}
		f, err := s.Frames(0, nil)
		require.NoError(t, err)
		assert.Empty(t, f.Ticks)
		f, err = s.Frames(1, nil)
		require.NoError(t, err)
		assert.Equal(t, bytesOfSlice([]int32{-7, 2, 5}), f.Values.Data)
		f, err = s.Frames(2, nil)
		require.NoError(t, err)
		assert.Equal(t, []int{1, 0, 3}, f.Values.Shape)
	})
}
