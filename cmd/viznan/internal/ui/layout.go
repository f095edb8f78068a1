package ui

// Rect is a place on the screen, in cells from the top left. A pane whose
// rectangle has no width or no height is not shown.
type Rect struct{ X, Y, W, H int }

// Empty reports whether nothing can be shown there.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Layout is the place of every pane.
type Layout struct {
	Header, Timeline, Footer Rect
	Envs, Fields             Rect
	Values, Chart            Rect
	Causes, Checklist        Rect
}

// Sizes below which the layout takes a simpler form.
const (
	wideWidth   = 140 // causes and checklist beside the values
	wideHeight  = 30
	sideWidth   = 60 // lists beside the values; below, one pane at a time
	minBody     = 5  // rows of panes before a timeline is worth its rows
	minTimeline = 2
)

// Arrange lays the panes out on w x h cells. Where not all fit, the one in
// focus is among those that are shown. The rectangles never overlap and never
// leave the screen.
func Arrange(w, h, envs int, focus Focus) Layout {
	var l Layout
	if w <= 0 || h <= 0 {
		return l
	}
	body := l.frame(w, h)
	switch {
	case w < sideWidth:
		l.single(body, focus)
	case w >= wideWidth && h >= wideHeight:
		left, rest := splitColumns(body, leftWidth(w))
		l.lists(left, envs)
		right := min(max(w*3/10, 50), 76)
		centre, side := splitColumns(rest, rest.W-right-1)
		l.values(centre)
		l.Causes, l.Checklist = splitRows(side, side.H-min(side.H/2, 27))
	default:
		left, rest := splitColumns(body, leftWidth(w))
		l.lists(left, envs)
		l.page(rest, focus)
	}
	return l
}

// frame takes header, timeline and footer off the screen and returns the rest.
func (l *Layout) frame(w, h int) Rect {
	header, footer, timeline := 1, 0, 0
	if h >= 3 {
		footer = 1
	}
	if h >= 8 {
		header = 2
	}
	if rest := h - header - footer; rest >= minBody+minTimeline {
		timeline = minTimeline
		if rest >= 18 {
			timeline = 4
		}
	}
	l.Header = Rect{0, 0, w, header}
	l.Footer = Rect{0, h - footer, w, footer}
	l.Timeline = Rect{0, h - footer - timeline, w, timeline}
	return Rect{0, header, w, h - header - footer - timeline}
}

// leftWidth is the width of the lists.
func leftWidth(w int) int { return min(max(w/4, 25), 38) }

// splitColumns cuts r after w columns; one column between stays free for a
// line.
func splitColumns(r Rect, w int) (left, right Rect) {
	w = min(max(w, 0), r.W)
	return Rect{r.X, r.Y, w, r.H}, Rect{r.X + w + 1, r.Y, max(r.W-w-1, 0), r.H}
}

// splitRows cuts r after h rows.
func splitRows(r Rect, h int) (top, bottom Rect) {
	h = min(max(h, 0), r.H)
	return Rect{r.X, r.Y, r.W, h}, Rect{r.X, r.Y + h, r.W, r.H - h}
}

// lists puts the envs over the fields; few envs take few rows.
func (l *Layout) lists(r Rect, envs int) {
	l.Envs, l.Fields = splitRows(r, min(max(envs, 1)+1, max(r.H/3, 2)))
}

// values puts the numbers over the plot, which needs five rows to tell
// anything.
func (l *Layout) values(r Rect) {
	chart := min(r.H*2/5, 18)
	if chart < 5 {
		chart = 0
	}
	l.Values, l.Chart = splitRows(r, r.H-chart)
}

// page gives the centre to one of its three pages.
func (l *Layout) page(r Rect, focus Focus) {
	switch focus {
	case FocusCauses:
		l.Causes = r
	case FocusChecklist:
		l.Checklist = r
	default:
		l.values(r)
	}
}

// single gives the whole body to the pane in focus.
func (l *Layout) single(r Rect, focus Focus) {
	switch focus {
	case FocusEnvs:
		l.Envs = r
	case FocusFields:
		l.Fields = r
	default:
		l.page(r, focus)
	}
}
