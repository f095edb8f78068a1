package plot

// grid is a chart being drawn: cells of characters, and dots of braille.
type grid struct {
	width, height int
	cells         [][]Cell
	dots          [][]byte // braille bits per cell
}

func newGrid(width, height int) *grid {
	g := &grid{width: width, height: height}
	for range height {
		row := make([]Cell, width)
		for x := range row {
			row[x] = Cell{Rune: ' '}
		}
		g.cells = append(g.cells, row)
		g.dots = append(g.dots, make([]byte, width))
	}
	return g
}

// set puts a character into a cell.
func (g *grid) set(x, y int, r rune, ink Ink) {
	if x >= 0 && x < g.width && y >= 0 && y < g.height {
		g.cells[y][x] = Cell{r, ink}
	}
}

// column fills a column with one character.
func (g *grid) column(x int, r rune, ink Ink) {
	for y := range g.height {
		g.set(x, y, r, ink)
	}
}

// brailleBits are the bits of the dots of a braille cell, by row and column.
var brailleBits = [4][2]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// dot sets one dot. A cell holds the dots of one ink: the later one wins.
func (g *grid) dot(x, y int, ink Ink) {
	cx, cy := x/2, y/4
	if x < 0 || y < 0 || cx >= g.width || cy >= g.height {
		return
	}
	if g.cells[cy][cx].Ink != ink {
		g.dots[cy][cx] = 0
	}
	g.dots[cy][cx] |= brailleBits[y%4][x%2]
	g.cells[cy][cx] = Cell{0x2800 + rune(g.dots[cy][cx]), ink}
}

// segment joins two dots with a straight line (Bresenham's).
func (g *grid) segment(x0, y0, x1, y1 int, ink Ink) {
	dx, dy := abs(x1-x0), -abs(y1-y0)
	sx, sy := sign(x1-x0), sign(y1-y0)
	for e := dx + dy; ; {
		g.dot(x0, y0, ink)
		if x0 == x1 && y0 == y1 {
			return
		}
		e2 := 2 * e
		if e2 >= dy {
			e, x0 = e+dy, x0+sx
		}
		if e2 <= dx {
			e, y0 = e+dx, y0+sy
		}
	}
}

func abs(n int) int { return max(n, -n) }

// sign returns -1, 0 or 1.
func sign(n int) int { return min(max(n, -1), 1) }
