package rootcause

import (
	"encoding/binary"
	"math"

	"github.com/nanguard/nanguard/tensor"
)

// cell is the summary of one row of one frame.
type cell struct {
	max   float64 // largest absolute finite value
	min   float64 // smallest finite value; 0 when there is none
	arg   int32   // column of max
	bad   int32   // non-finite values
	first int32   // column of the first of them
	class tensor.Class
}

// seen takes a finite value into the cell.
func (c *cell) seen(col int, v float64, any *bool) {
	if a := math.Abs(v); a > c.max {
		c.max, c.arg = a, int32(col)
	}
	if !*any || v < c.min {
		c.min = v
	}
	*any = true
}

// broken takes a non-finite value into the cell.
func (c *cell) broken(col int, class tensor.Class) {
	if c.bad == 0 {
		c.first, c.class = int32(col), class
	}
	c.bad++
}

// scanCells summarises every row of every frame over the columns [from, to) of
// an array of frames x rows x cols.
func scanCells(a tensor.Array, rows, cols, from, to int) []cell {
	n := 0
	if cols > 0 && rows > 0 {
		n = a.Len() / cols
	}
	cells := make([]cell, n)
	size := a.DType.Size()
	for i := range cells {
		scanRow(&cells[i], a.DType, a.Data[(i*cols+from)*size:(i*cols+to)*size])
	}
	return cells
}

// scanRow summarises the elements of b. The two common types have loops of
// their own: a dump is mostly float32 or float64.
func scanRow(c *cell, d tensor.DType, b []byte) {
	any := false
	switch d {
	case tensor.Float32:
		for i := 0; i*4 < len(b); i++ {
			bits := binary.LittleEndian.Uint32(b[i*4:])
			if bits&0x7f800000 == 0x7f800000 {
				c.broken(i, d.Classify(uint64(bits)))
				continue
			}
			c.seen(i, float64(math.Float32frombits(bits)), &any)
		}
	case tensor.Float64:
		for i := 0; i*8 < len(b); i++ {
			v := math.Float64frombits(binary.LittleEndian.Uint64(b[i*8:]))
			if v-v != 0 {
				c.broken(i, tensor.ClassOf(v))
				continue
			}
			c.seen(i, v, &any)
		}
	default:
		scanRowSlow(c, d, b, &any)
	}
}

// scanRowSlow is scanRow for any type.
func scanRowSlow(c *cell, d tensor.DType, b []byte, any *bool) {
	size := d.Size()
	for i := 0; i*size < len(b); i++ {
		bits := d.Bits(b[i*size:])
		if class := d.Classify(bits); class != tensor.Finite {
			c.broken(i, class)
			continue
		}
		c.seen(i, d.Float64(bits), any)
	}
}
