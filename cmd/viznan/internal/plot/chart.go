package plot

// Ink says what a cell of a chart stands for.
type Ink uint8

// The inks of a chart.
const (
	None   Ink = iota
	Line       // the series
	Second     // the series that it is compared with
	Bad        // a non-finite value
	Cursor     // the frame that is shown now
)

// Cell is one character of a chart.
type Cell struct {
	Rune rune
	Ink  Ink
}

// Chart is a line chart of a series over its index.
type Chart struct {
	Scale  Scale
	Values []float64
	Second []float64 // drawn behind Values where it is not nil; as long as Values
	Cursor int       // index to mark, -1 for none
}

// Draw returns the chart as height rows of width cells.
func (c Chart) Draw(width, height int) [][]Cell {
	if width <= 0 || height <= 0 {
		return nil
	}
	g := newGrid(width, height)
	if c.Cursor >= 0 && c.Cursor < len(c.Values) {
		g.column(c.cell(c.Cursor, width), '│', Cursor)
	}
	c.line(g, c.Second, Second)
	c.line(g, c.Values, Line)
	c.marks(g)
	return g.cells
}

// line draws the finite values of a series, joined where neighbours are finite.
func (c Chart) line(g *grid, values []float64, ink Ink) {
	for i, v := range values {
		if !finite(v) {
			continue
		}
		x, y := c.dot(i, g), c.level(v, g)
		if i > 0 && finite(values[i-1]) {
			g.segment(c.dot(i-1, g), c.level(values[i-1], g), x, y, ink)
		} else {
			g.dot(x, y, ink)
		}
	}
}

// marks puts the non-finite values over the line: a NaN takes its whole
// column, an infinity the end to which it points.
func (c Chart) marks(g *grid) {
	for i, v := range c.Values {
		m := Mark(v)
		if m == 0 {
			continue
		}
		for x := c.cell(i, g.width); x < c.next(i, g.width); x++ {
			switch m {
			case NaNMark:
				g.column(x, '░', Bad)
				g.set(x, g.height-1, NaNMark, Bad)
			case PosInfMark:
				g.set(x, 0, PosInfMark, Bad)
			default:
				g.set(x, g.height-1, NegInfMark, Bad)
			}
		}
	}
}

// dot returns the horizontal dot of index i, two dots to a cell.
func (c Chart) dot(i int, g *grid) int {
	if len(c.Values) < 2 {
		return 0
	}
	return i * (2*g.width - 1) / (len(c.Values) - 1)
}

// cell returns the column of index i.
func (c Chart) cell(i, width int) int { return Column(i, len(c.Values), width) }

// next returns the column behind the last one that belongs to index i.
func (c Chart) next(i, width int) int {
	if i+1 >= len(c.Values) {
		return width
	}
	return max(c.cell(i+1, width), c.cell(i, width)+1)
}

// level returns the vertical dot of v, four dots to a cell, from the top.
func (c Chart) level(v float64, g *grid) int {
	n := 4*g.height - 1
	return n - int(c.Scale.At(v)*float64(n)+0.5)
}

// Column returns the column in which Draw puts index i of n in a chart of the
// given width.
func Column(i, n, width int) int {
	if n < 2 {
		return 0
	}
	return i * (2*width - 1) / (n - 1) / 2
}
