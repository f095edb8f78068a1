package ui

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rects lists the rectangles of a layout.
func (l Layout) rects() map[string]Rect {
	return map[string]Rect{
		"header": l.Header, "timeline": l.Timeline, "footer": l.Footer, "envs": l.Envs, "fields": l.Fields,
		"values": l.Values, "chart": l.Chart, "causes": l.Causes, "checklist": l.Checklist,
	}
}

func TestArrange80x24(t *testing.T) {
	assert.Equal(t, Layout{
		Header: Rect{0, 0, 80, 2}, Timeline: Rect{0, 19, 80, 4}, Footer: Rect{0, 23, 80, 1},
		Envs: Rect{0, 2, 25, 4}, Fields: Rect{0, 6, 25, 13},
		Values: Rect{26, 2, 54, 11}, Chart: Rect{26, 13, 54, 6},
	}, Arrange(80, 24, 3, FocusFields))
	assert.Equal(t, Rect{26, 2, 54, 17}, Arrange(80, 24, 3, FocusCauses).Causes)
	assert.Equal(t, Rect{26, 2, 54, 17}, Arrange(80, 24, 3, FocusChecklist).Checklist)
}

func TestArrange200x60ShowsAll(t *testing.T) {
	for f := range focusCount {
		l := Arrange(200, 60, 3, f)
		for name, r := range l.rects() {
			assert.False(t, r.Empty(), name)
		}
		assert.Equal(t, Arrange(200, 60, 3, FocusValues), l, "the focus moves nothing")
	}
}

func TestArrangeNarrowShowsThePaneInFocus(t *testing.T) {
	body := Rect{0, 2, 40, 7}
	assert.Equal(t, body, Arrange(40, 12, 3, FocusEnvs).Envs)
	assert.Equal(t, body, Arrange(40, 12, 3, FocusFields).Fields)
	assert.Equal(t, body, Arrange(40, 12, 3, FocusValues).Values)
	assert.Equal(t, body, Arrange(40, 12, 3, FocusCauses).Causes)
	assert.Equal(t, body, Arrange(40, 12, 3, FocusChecklist).Checklist)
}

// TestArrangeEverySize: rectangles stay on the screen and never overlap.
func TestArrangeEverySize(t *testing.T) {
	for w := -1; w <= 230; w += 3 {
		for h := -1; h <= 70; h++ {
			for f := range focusCount {
				l := Arrange(w, h, 7, f)
				used := map[[2]int]string{}
				for name, r := range l.rects() {
					if r.Empty() {
						continue
					}
					require.True(t, r.X >= 0 && r.Y >= 0 && r.X+r.W <= w && r.Y+r.H <= h, "%s %+v leaves %dx%d", name, r, w, h)
					for _, corner := range [][2]int{{r.X, r.Y}, {r.X + r.W - 1, r.Y}, {r.X, r.Y + r.H - 1}, {r.X + r.W - 1, r.Y + r.H - 1}} {
						other, taken := used[corner]
						require.False(t, taken && other != name, "%s and %s at %v of %dx%d", name, other, corner, w, h)
						used[corner] = name
					}
				}
			}
		}
	}
}

func TestManyEnvsLeaveRoomForFields(t *testing.T) {
	l := Arrange(80, 24, 500, FocusValues)
	assert.Equal(t, 5, l.Envs.H)
	assert.Equal(t, 12, l.Fields.H)
}

func TestTableWidths(t *testing.T) {
	m := sample()
	v, _, _ := m.view()
	list := m.values.columns(v)
	for _, c := range []struct{ w, label, delta, others, spark int }{
		{200, 11, 10, 2, 40}, {110, 11, 10, 2, 40}, {80, 11, 10, 2, 16}, {54, 11, 10, 0, 16}, {36, 10, 10, 0, 0}, {20, 5, 0, 0, 0}, {3, 0, 0, 0, 0},
	} {
		got := m.values.table(v, list, c.w)
		assert.Equal(t, c, struct{ w, label, delta, others, spark int }{c.w, got.label, got.delta, len(got.others), got.spark}, fmt.Sprint(c.w))
	}
}
