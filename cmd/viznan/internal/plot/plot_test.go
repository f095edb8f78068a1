package plot

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	nan  = math.NaN()
	pinf = math.Inf(1)
	ninf = math.Inf(-1)
)

func TestScaleLinear(t *testing.T) {
	s, ok := NewScale(Linear, []float64{-2, nan, 6, pinf})
	require.True(t, ok)
	assert.Equal(t, -2.0, s.Lo)
	assert.Equal(t, 6.0, s.Hi)
	assert.Equal(t, 0.0, s.At(-2))
	assert.Equal(t, 0.25, s.At(0))
	assert.Equal(t, 1.0, s.At(6))
	assert.Equal(t, 1.0, s.At(100), "values outside are held at the edge")
	assert.Equal(t, 2.0, s.ValueAt(0.5))
}

func TestScaleAutoGoesLogarithmicOnGrowth(t *testing.T) {
	steady, _ := NewScale(Auto, []float64{1e-9, 0.5, 1, -1, 0.7, 2})
	assert.Equal(t, Linear, steady.Kind, "one tiny value is no growth")
	growth, _ := NewScale(Auto, []float64{1, -1, 1, 1, 40, 2e3, 1e5, -8e8})
	assert.Equal(t, SymLog, growth.Kind)
	for _, v := range []float64{-8e8, -1, 0, 1, 40, 1e5} {
		assert.InDelta(t, v, growth.ValueAt(growth.At(v)), 1e-9*(1+math.Abs(v)))
	}
	assert.Greater(t, growth.At(40)-growth.At(1), 0.04, "early growth can be seen next to 8e8")
}

func TestScaleDegenerate(t *testing.T) {
	_, ok := NewScale(Auto, []float64{nan, pinf}, nil)
	assert.False(t, ok)
	assert.Equal(t, 0.5, Scale{}.At(3))
	flat, ok := NewScale(Auto, []float64{7, 7})
	require.True(t, ok)
	assert.Equal(t, 0.5, flat.At(7))
	for _, k := range []Kind{Linear, SymLog} {
		wide, _ := NewScale(k, []float64{-math.MaxFloat64, 5e-324, math.MaxFloat64})
		assert.InDelta(t, 0.5, wide.At(0), 1e-9, k)
		assert.InDelta(t, 1, wide.At(math.MaxFloat64), 1e-9, k)
	}
}

func TestSpark(t *testing.T) {
	s, _ := NewScale(Linear, []float64{0, 7})
	assert.Equal(t, "▁▂█✗▲▼▄", Spark(s, []float64{0, 1, 7, nan, pinf, ninf, 3}))
	assert.Equal(t, "", Spark(s, nil))
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{
		0: "    ", 1: "████", 0.5: "██  ", 0.25 / 8: "▏   ", 2: "████", -1: "    ",
	} {
		assert.Equal(t, want, Bar(share, 4), share)
	}
	assert.Equal(t, "    ", Bar(nan, 4))
	assert.Equal(t, "", Bar(1, 0))
}

// draw returns the characters of a chart, and its inks as digits.
func draw(c Chart, w, h int) (text, inks string) {
	for _, row := range c.Draw(w, h) {
		for _, cell := range row {
			text += string(cell.Rune)
			inks += string(rune('0' + cell.Ink))
		}
		text, inks = text+"\n", inks+"\n"
	}
	return text, inks
}

func TestChartMarksGaps(t *testing.T) {
	v := []float64{0, 1, nan, pinf, ninf, 0, 0, 1}
	s, _ := NewScale(Linear, v)
	text, inks := draw(Chart{Scale: s, Values: v, Cursor: -1}, 8, 2)
	assert.Equal(t, ""+
		"⢠⠃░▲   ⡜\n"+
		"⡜ ✗ ▼⣀⡜ \n", text)
	assert.Equal(t, ""+
		"11330001\n"+
		"10303110\n", inks)
}

func TestChartIsAsLargeAsAsked(t *testing.T) {
	v := make([]float64, 500)
	for i := range v {
		v[i] = math.Sin(float64(i)/20) * float64(i)
	}
	v[17], v[444], v[445] = pinf, nan, nan
	s, _ := NewScale(Auto, v)
	for w := range 30 {
		for h := range 6 {
			for _, n := range []int{0, 1, 2, 3, 29, 500} {
				rows := Chart{Scale: s, Values: v[:n], Second: v[:n], Cursor: n - 1}.Draw(w, h)
				if w == 0 || h == 0 {
					assert.Nil(t, rows)
					continue
				}
				require.Len(t, rows, h)
				for _, row := range rows {
					require.Len(t, row, w)
					for _, c := range row {
						require.True(t, utf8.ValidRune(c.Rune) && c.Rune >= ' ')
					}
				}
			}
		}
	}
}

func TestChartNeverHidesANaN(t *testing.T) {
	for _, n := range []int{10, 80, 999} {
		for bad := range n {
			v := make([]float64, n)
			v[bad] = nan
			text, _ := draw(Chart{Values: v, Cursor: bad}, 40, 3)
			require.Contains(t, text, "✗", "frame %d of %d", bad, n)
		}
	}
}

func TestChartCursorAndSecond(t *testing.T) {
	v := []float64{0, 0, 0, 0}
	s := Scale{Kind: Linear, Lo: -1, Hi: 1}
	text, inks := draw(Chart{Scale: s, Values: v, Second: []float64{1, 1, 1, 1}, Cursor: 2}, 4, 3)
	assert.Contains(t, text, "│")
	assert.Contains(t, inks, "2222", "the second series lies apart from the first")
	assert.Contains(t, inks, "1111")
}
