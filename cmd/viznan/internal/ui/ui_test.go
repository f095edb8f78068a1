package ui

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording/recordtest"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

// diagnosis answers with the sample's.
func diagnosis() (*rootcause.Diagnosis, error) { return recordtest.Diagnosis(), nil }

// viewer returns a viewer of a source with everything read.
func viewer(src recording.Source, o Options) *Model {
	m := New(recording.Open(src), o)
	m.Prepare(0)
	return m
}

// sample returns a viewer of the sample in plain characters.
func sample() *Model {
	m := viewer(recordtest.Sample(), Options{Theme: Plain, Diagnose: diagnosis})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return m
}

// keyPress makes the message of a key as bubbletea names it.
func keyPress(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEsc, "space": tea.KeySpace,
		"backspace": tea.KeyBackspace,
	}
	base, shift := strings.CutPrefix(name, "shift+")
	k := tea.Key{Code: codes[base]}
	if shift {
		k.Mod = tea.ModShift
	}
	switch {
	case name == "ctrl+c":
		k = tea.Key{Code: 'c', Mod: tea.ModCtrl}
	case name == "space":
		k.Text = " "
	case k.Code == 0:
		r := []rune(base)[0]
		k = tea.Key{Code: r, Text: base}
	}
	return tea.KeyPressMsg(k)
}

// press sends keys, one after the other, and returns the last command.
func press(m *Model, keys ...string) (cmd tea.Cmd) {
	for _, k := range keys {
		_, cmd = m.Update(keyPress(k))
	}
	return cmd
}

// requireSize checks that a frame has exactly the size asked for.
func requireSize(t *testing.T, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	require.Len(t, lines, h)
	for _, l := range lines {
		require.Equal(t, w, ansi.StringWidth(l), "%q", l)
		require.Equal(t, w, ansi.StringWidthWc(l), "%q", l)
	}
}

// pages are states of the viewer that look different.
var pages = map[string][]string{
	"values":    {"1"},
	"causes":    {"2"},
	"checklist": {"3", "down", "down", "down", "down"},
	"envs":      {"1", "shift+tab", "shift+tab"},
	"fields":    {"1", "shift+tab"},
	"help":      {"?"},
	"filter":    {"/", "k", "n"},
	"compare":   {"x", "left", "left"},
	"trace":     {"shift+tab", "up"},
}

func TestEveryWidth(t *testing.T) {
	for name, keys := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := viewer(hostile(), Options{Diagnose: diagnosis})
			press(m, keys...)
			for w := 20; w <= 160; w++ {
				h := []int{24, 8, 45}[w%3]
				requireSize(t, m.Frame(w, h), w, h)
			}
		})
	}
}

func TestEverySmallSize(t *testing.T) {
	m := sample()
	for name, keys := range pages {
		press(m, keys...)
		for w := 1; w <= 12; w++ {
			for h := 1; h <= 10; h++ {
				assert.NotPanics(t, func() { requireSize(t, m.Frame(w, h), w, h) }, "%s %dx%d", name, w, h)
			}
		}
		press(m, "esc")
	}
	assert.Empty(t, m.Frame(0, 10))
	assert.Empty(t, m.Frame(10, -1))
}

// hostile is the sample with names that try to leave their place.
func hostile() *recordtest.Source {
	s := recordtest.Sample()
	s.File = "dir/\x1b]0;title\a\x1b[2J日本語.npz"
	s.M.Producer.Name = "\x1b[31mred"
	s.M.Events[1].Name = "\u202eright to left\u0007"
	s.M.Events[2].Kind = "👨\u200d👩\u200d👧"
	s.M.EnvRoles[0] = "\x1b[7m"
	s.Labels["qacc"][0] = "\x1b[41mcol\u0301日本"
	s.Labels["qacc"][1] = strings.Repeat("long", 50)
	for i, f := range s.M.Fields {
		if f.Name == "normalizer.var" {
			s.M.Fields[i].Name, s.M.Fields[i].Clock = "n\x1b[1A\nv👍🏽", "\x1b[s"
			s.Series["n\x1b[1A\nv👍🏽"] = s.Series[f.Name]
		}
	}
	s.Doubts = append(s.Doubts, errors.New("\x1b[5mblink\r\n"))
	return s
}

func TestNothingHostileReachesTheTerminal(t *testing.T) {
	m := viewer(hostile(), Options{Theme: Plain, Diagnose: func() (*rootcause.Diagnosis, error) {
		d := recordtest.Diagnosis()
		d.Causes[0].ID, d.Causes[0].Evidence[0].Text = "\x1b[3m", "\x9b31m\u2066"
		d.Checklist[0].Check, d.Checklist[1].Status = "\x1b[4m", "\x1b[9m"
		d.FirstBad.Field, d.FirstBad.Column, d.FirstBad.Clock, d.FirstBad.Class = "\x1b[1m", "\x1b[2m", "\x1b", "\x1b"
		d.Verdict = "\x1b[1m"
		return d, nil
	}})
	m.step(-1000)
	for name, keys := range pages {
		press(m, keys...)
		frame := m.Frame(200, 60)
		for _, r := range frame {
			ok := r == '\n' || r >= ' ' && r != 0x7f && !(r >= 0x80 && r < 0xa0) && r != 0x202e && r != 0x2066 && r != 0x200d
			require.True(t, ok, "%s: %q in %q", name, r, frame)
		}
		press(m, "esc")
	}
	press(m, "y")
	assert.NotContains(t, m.status, "\x1b")
}

func TestPlainSaysItInWords(t *testing.T) {
	frame := sample().Frame(80, 24)
	assert.NotContains(t, frame, "\x1b")
	for _, want := range []string{"NaN", "+Inf", "went bad", "contact-divergence 87 %", "✗ 14 culprit", "4 NaN, 1 +Inf of 8", "bad @44"} {
		assert.Contains(t, frame, want)
	}
	press := sample()
	press.goTo(recording.Spot{Field: 3, Env: 0, Col: 0, Tick: 47})
	assert.Contains(t, press.Frame(80, 24), "-Inf")
}

// TestInverseBlocks: with NO_COLOR bubbletea drops colours and keeps inverse.
func TestInverseBlocks(t *testing.T) {
	m := viewer(recordtest.Sample(), Options{Theme: Dark, Diagnose: diagnosis})
	assert.Regexp(t, `\x1b\[[0-9;]*7[0-9;]*m +NaN `, m.Frame(80, 24))
}

func TestThemeFollowsTheTerminal(t *testing.T) {
	m := viewer(recordtest.Sample(), Options{FollowTerminal: true})
	dark := m.Frame(80, 24)
	m.Update(tea.BackgroundColorMsg{Color: ansi.BasicColor(15)})
	assert.NotEqual(t, dark, m.Frame(80, 24))
	m = viewer(recordtest.Sample(), Options{})
	m.Update(tea.BackgroundColorMsg{Color: ansi.BasicColor(15)})
	assert.Equal(t, dark, m.Frame(80, 24), "a theme that was chosen stays")
}

func TestOpensAtTheFirstBadFrame(t *testing.T) {
	m := sample()
	assert.Equal(t, recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}, m.spot)
	assert.Equal(t, FocusValues, m.focus)
}

func TestOpensWhereItIsTold(t *testing.T) {
	field, env, tick := 2, 1, int64(10)
	m := viewer(recordtest.Sample(), Options{Diagnose: diagnosis, Field: &field, Env: &env, Tick: &tick})
	assert.Equal(t, recording.Spot{Field: 2, Env: 1, Col: 0, Tick: 10}, m.spot)
	m = viewer(recordtest.Sample(), Options{Diagnose: diagnosis, Field: &field})
	assert.Equal(t, recording.Spot{Field: 2, Env: 0, Col: 0, Tick: 44}, m.spot, "the rest is as at the first bad value")
}

// TestPlacesItselfAsMoreIsKnown: without a trip in the file the first bad value
// shows only once the fields are read.
func TestPlacesItselfAsMoreIsKnown(t *testing.T) {
	s := recordtest.Sample()
	s.M.Trip, s.M.FirstBad = nil, nil
	m := New(recording.Open(s), Options{})
	assert.Zero(t, m.spot.Tick)
	m.Prepare(0)
	assert.EqualValues(t, 44, m.spot.Tick)
}

func TestAPersonIsNotMoved(t *testing.T) {
	m := New(recording.Open(recordtest.Sample()), Options{Diagnose: diagnosis})
	m.Update(loadedMsg{m.rec.Load(1)})
	press(m, "left")
	at := m.spot
	m.Prepare(0)
	assert.Equal(t, at, m.spot)
	assert.NotNil(t, m.rec.Diagnosis)
}

func TestTimeKeys(t *testing.T) {
	for _, c := range []struct {
		keys string
		want int64
	}{
		{"left", 43},
		{"h", 43},
		{"right", 46},
		{"l", 46},
		{"left right", 44},
		{"shift+left", 32},
		{",", 32},
		{", .", 44},
		{"shift+left shift+right", 44},
		{"home", 1},
		{"g", 1},
		{"g left", 1},
		{"end", 46},
		{"G", 46},
		{"G right", 46},
		{"]", 45},
		{"] ]", 46},
		{"[ [ [ [", 40},
		{"G ]", 47},
		{"n", 47},
		{"n n", 47},
		{"N", 38},
		{"N N", 20},
		{"N N N", 5},
		{"N N N N N", 0},
		{"g b", 44},
		{"b", 38},
		{"b b", 44},
	} {
		m := sample()
		press(m, strings.Fields(c.keys)...)
		assert.Equal(t, c.want, m.spot.Tick, c.keys)
	}
}

func TestFirstBadGoesToFieldAndColumnToo(t *testing.T) {
	m := sample()
	press(m, "b")
	assert.Equal(t, recording.Spot{Field: 2, Env: 0, Col: 4, Tick: 38}, m.spot, "where it began")
	m.goTo(recording.Spot{Field: 0, Env: 2, Col: 1, Tick: 3})
	press(m, "b")
	assert.Equal(t, recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}, m.spot)
}

func TestPaneKeys(t *testing.T) {
	m := sample()
	for key, want := range map[string]Focus{"1": FocusValues, "2": FocusCauses, "3": FocusChecklist} {
		press(m, key)
		assert.Equal(t, want, m.focus, key)
	}
	press(m, "1")
	var order []Focus
	for range 5 {
		press(m, "tab")
		order = append(order, m.focus)
	}
	assert.Equal(t, []Focus{FocusCauses, FocusChecklist, FocusEnvs, FocusFields, FocusValues}, order)
	press(m, "shift+tab")
	assert.Equal(t, FocusFields, m.focus)
}

func TestRowKeys(t *testing.T) {
	m := sample()
	press(m, "down", "j", "up", "down")
	assert.Equal(t, 2, m.spot.Col)
	press(m, "pgdown")
	assert.Equal(t, 7, m.spot.Col)
	press(m, "pgup", "k")
	assert.Equal(t, 0, m.spot.Col)
	press(m, "shift+tab", "down")
	assert.Equal(t, 2, m.spot.Field)
	press(m, "shift+tab", "down", "down", "down")
	assert.Equal(t, 2, m.spot.Env)
	press(m, "2", "down", "down")
	assert.Equal(t, 2, m.causes.cursor)
	press(m, "pgdown")
	assert.Equal(t, 5, m.causes.cursor, "one place behind the last cause")
	press(m, "3", "pgdown")
	assert.Equal(t, 9, m.checklist.cursor)
}

// TestLongEvidenceIsRead: what one screen cannot hold of a cause must come into
// sight by going down.
func TestLongEvidenceIsRead(t *testing.T) {
	m := viewer(recordtest.Sample(), Options{Theme: Plain, Diagnose: func() (*rootcause.Diagnosis, error) {
		d := recordtest.Diagnosis()
		for i := range 30 {
			d.Causes[0].Evidence = append(d.Causes[0].Evidence, rootcause.Evidence{Text: fmt.Sprintf("fact number %d.", i)})
		}
		return d, nil
	}})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	press(m, "2")
	assert.Contains(t, m.Frame(80, 24), "more lines")
	seen := ""
	for m.causes.cursor == 0 {
		seen += m.Frame(80, 24)
		press(m, "down")
	}
	for i := range 30 {
		assert.Contains(t, seen, fmt.Sprintf("fact number %d.", i))
	}
	assert.Contains(t, seen, "fix: halve the timestep")
	for range 10 {
		press(m, "down")
	}
	assert.Contains(t, m.Frame(80, 24), "no reward term was recorded", "the doubts at the end")
	press(m, "up", "up", "up", "up", "up", "up")
	assert.Zero(t, m.causes.cursor)
}

// TestFieldWithFewerColumns: the column of one field may not be there in the
// next.
func TestFieldWithFewerColumns(t *testing.T) {
	m := sample()
	press(m, "pgdown", "shift+tab", "down", "down")
	assert.Equal(t, "reward", m.field().Name)
	assert.Equal(t, 0, m.spot.Col)
}

func TestEnterGoesToWhereItWentBad(t *testing.T) {
	for _, c := range []struct {
		keys string
		want recording.Spot
	}{
		{"g 1 enter", recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}},
		{"g down enter", recording.Spot{Field: 1, Env: 0, Col: 1, Tick: 43}}, // huge
		{"g shift+tab enter", recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}},
		{"g shift+tab shift+tab enter", recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}},
		{"g 2 enter", recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}},
	} {
		m := sample()
		press(m, strings.Fields(c.keys)...)
		assert.Equal(t, c.want, m.spot, c.keys)
	}
	m := sample()
	press(m, "g", "down", "down", "down", "down", "down", "enter")
	assert.EqualValues(t, 1, m.spot.Tick, "the column never goes bad")
	assert.NotEmpty(t, m.status)
	press(m, "3", "enter", "2", "pgdown", "enter")
	assert.NotEmpty(t, m.status)
}

func TestFilterFields(t *testing.T) {
	m := sample()
	press(m, "shift+tab", "/", "q")
	assert.Equal(t, []int{1, 2}, m.fields.shown(), "rows follow as one types")
	assert.Contains(t, m.Frame(80, 24), "fields 2/5 /q")
	press(m, "v", "enter")
	assert.Equal(t, []int{2}, m.fields.shown())
	assert.False(t, m.filtering)
	press(m, "down")
	assert.Equal(t, "qvel", m.field().Name, "the first of those that are shown")
	press(m, "/", "x", "x")
	assert.Contains(t, m.Frame(80, 24), "none to show")
	press(m, "down", "esc")
	assert.Len(t, m.fields.shown(), 5)
}

func TestFilterColumns(t *testing.T) {
	m := sample()
	press(m, "/", "k", "n", "e", "e", "enter")
	v, _, ok := m.view()
	require.True(t, ok)
	assert.Equal(t, []int{4, 6}, m.values.columns(v))
	assert.Equal(t, 4, m.spot.Col, "the first of those that are shown")
	press(m, "down")
	assert.Equal(t, 6, m.spot.Col)
	m.values.filter = "root !vy"
	assert.Equal(t, []int{0, 2}, m.values.columns(v))
	press(m, "esc")
	assert.Len(t, m.values.columns(v), 8)
}

// plotted is the column that the plot shows.
func plotted(m *Model) string {
	return strings.Fields(strings.TrimPrefix(m.chart.View(80, 10)[0], "─ plot "))[0]
}

// TestFilterMovesTheSelection: the plot is of a column in sight.
func TestFilterMovesTheSelection(t *testing.T) {
	m := sample()
	press(m, "/", "k", "n", "e", "e")
	assert.Equal(t, "left_knee", plotted(m), "as one types")
	press(m, "esc")
	assert.Equal(t, recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}, m.spot, "esc takes it back")
	press(m, "/", "k", "n", "e", "e", "enter", "down")
	assert.Equal(t, "right_knee", plotted(m))
	press(m, "/", "x", "x")
	assert.Equal(t, "right_knee", plotted(m), "none is in sight")
	press(m, "esc", "shift+tab", "/", "r", "e", "w", "enter")
	assert.Equal(t, "reward", m.field().Name, "fields too")
}

// TestFaultsMoveTheSelection: what f hides is not plotted either, and the next
// field's columns are filtered like this one's.
func TestFaultsMoveTheSelection(t *testing.T) {
	m := sample()
	press(m, "end", "pgdown", "f")
	v, _, _ := m.view()
	assert.Contains(t, m.values.columns(v), m.spot.Col)
	m = sample()
	m.values.filter = "vz"
	press(m, "down", "shift+tab", "down")
	assert.Equal(t, "qvel", m.field().Name)
	assert.Equal(t, 2, m.spot.Col)
}

// TestJumpsDropTheFilter: a place that was asked for comes into sight.
func TestJumpsDropTheFilter(t *testing.T) {
	m := sample()
	press(m, "/", "k", "n", "e", "e", "enter", "b")
	assert.Equal(t, recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}, m.spot)
	assert.Empty(t, m.values.filter)
	assert.Contains(t, m.status, "filters cleared")
	press(m, "/", "x", "x", "enter", "b")
	assert.Empty(t, m.values.filter, "where no row is left too")
	press(m, "/", "k", "n", "e", "e", "enter", "g", "enter")
	assert.Equal(t, "knee", m.values.filter, "what is in sight needs no clearing")
}

func TestKeysInTheFilterAreText(t *testing.T) {
	m := sample()
	press(m, "/", "q", "f", "?")
	assert.Equal(t, "qf?", m.values.filter)
	assert.False(t, m.helpOpen)
	press(m, "backspace")
	assert.Equal(t, "qf", m.values.filter)
	m.Update(tea.PasteMsg{Content: "z\x1b"})
	assert.NotContains(t, m.Frame(80, 24), "\x1b")
	require.NotNil(t, press(m, "ctrl+c"), "ctrl+c always quits")
}

func TestFaultsOnly(t *testing.T) {
	m := sample()
	press(m, "f")
	assert.Equal(t, []int{1, 2, 3}, m.fields.shown())
	v, _, _ := m.view()
	assert.Equal(t, []int{0, 1, 2, 3, 4, 6}, m.values.columns(v), "vy was huge once")
	press(m, "f")
	assert.Len(t, m.fields.shown(), 5)
}

func TestSortColumns(t *testing.T) {
	m := sample()
	v, _, _ := m.view()
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, m.values.columns(v))
	press(m, "s")
	assert.Equal(t, []int{0, 2, 3, 4, 6, 1, 7, 5}, m.values.columns(v), "largest first")
	press(m, "s")
	assert.Equal(t, []int{1, 0, 2, 3, 4, 6, 5, 7}, m.values.columns(v), "first to go bad first")
	press(m, "s")
	assert.Equal(t, sortLoop, m.sort)
}

func TestPlotScale(t *testing.T) {
	m := sample()
	assert.Contains(t, m.Frame(80, 24), "symlog", "growth is logarithmic by itself")
	press(m, "p")
	assert.Contains(t, m.Frame(80, 24), "linear")
	press(m, "p", "p")
	assert.Contains(t, m.status, "auto")
}

func TestCompare(t *testing.T) {
	m := sample()
	press(m, "x")
	frame := m.Frame(80, 24)
	assert.Contains(t, frame, "- env 30")
	assert.Contains(t, frame, "with env 30")
	press(m, "x")
	assert.Contains(t, m.Frame(80, 24), "change")
	s := recordtest.Sample()
	s.M.EnvIDs, s.M.EnvRoles = []int{14}, nil
	s.Series = nil
	m = viewer(s, Options{})
	press(m, "x")
	assert.False(t, m.compare)
	assert.Contains(t, m.status, "no other env")
}

func TestTrace(t *testing.T) {
	m := sample()
	press(m, "t")
	assert.Contains(t, m.status, "no other record")
	press(m, "shift+tab", "up")
	assert.Equal(t, "ncon", m.field().Name)
	frame := m.Frame(80, 24)
	assert.Contains(t, frame, "trace over all envs")
	assert.Contains(t, frame, "argmax env")
}

// TestTraceOfAFieldOfTheWholeRun: no env is named where there is none.
func TestTraceOfAFieldOfTheWholeRun(t *testing.T) {
	s := recordtest.Sample()
	s.Traces["normalizer.var"] = s.Traces["ncon"]
	field := 4
	m := viewer(s, Options{Theme: Plain, Field: &field})
	press(m, "t")
	frame := m.Frame(200, 60)
	assert.Contains(t, frame, "normalizer.var · trace · ")
	assert.Contains(t, frame, "absmax")
	assert.NotContains(t, frame, "argmax")
	assert.NotContains(t, frame, "every env")
}

func TestPlay(t *testing.T) {
	m := sample()
	press(m, "g")
	cmd := press(m, "space")
	require.NotNil(t, cmd)
	assert.Contains(t, m.Frame(80, 24), "▶ 10 frames/s")
	m.Update(playMsg{m.play.run})
	assert.EqualValues(t, 2, m.spot.Tick)
	m.Update(playMsg{m.play.run - 1})
	assert.EqualValues(t, 2, m.spot.Tick, "a tick of an earlier run is dropped")
	press(m, "+")
	assert.Equal(t, 20, speeds[m.play.speed])
	press(m, "-", "-", "-", "-", "-", "-", "-")
	assert.Equal(t, 1, speeds[m.play.speed])
	press(m, "space")
	assert.False(t, m.play.on)
	m.Update(playMsg{m.play.run})
	assert.EqualValues(t, 2, m.spot.Tick)
}

func TestPlayStopsAtTheEndAndStartsAgain(t *testing.T) {
	m := sample()
	press(m, "space")
	_, cmd := m.Update(playMsg{m.play.run})
	assert.Nil(t, cmd)
	assert.False(t, m.play.on)
	assert.EqualValues(t, 46, m.spot.Tick)
	press(m, "space")
	assert.EqualValues(t, 1, m.spot.Tick)
	assert.True(t, m.play.on)
}

func TestYank(t *testing.T) {
	m := sample()
	require.NotNil(t, press(m, "y"))
	assert.Equal(t, "copied: nanguard export runs/nan_dump_20261201_043835.npz qacc --env 14", m.status)
	assert.Equal(t, `'it'\''s $(rm)'`, quote("it's $(rm)"))
	assert.Equal(t, "''", quote(""))
}

func TestHelpIsMadeFromTheKeys(t *testing.T) {
	m := sample()
	press(m, "?")
	frame := m.Frame(120, 60)
	for _, group := range m.keys.FullHelp() {
		for _, b := range group {
			assert.Contains(t, frame, b.Help().Desc)
		}
	}
	m.keys.Quit.SetHelp("Q", "leave the room")
	assert.Contains(t, m.Frame(120, 60), "leave the room")
}

// TestKeysInTheHelp: who reads what a key does and presses it, sees it done.
func TestKeysInTheHelp(t *testing.T) {
	for key, focus := range map[string]Focus{"1": FocusValues, "2": FocusCauses, "3": FocusChecklist} {
		m := sample()
		press(m, "?", key)
		assert.False(t, m.helpOpen, key)
		assert.Equal(t, focus, m.focus, key)
	}
	m := sample()
	at := m.spot
	press(m, "?", "down", "pgdown", "pgup", "up", "w", "§")
	assert.True(t, m.helpOpen, "keys that scroll, or do nothing, leave it open")
	for _, key := range []string{"q", "esc", "?"} {
		assert.Nil(t, press(m, key), "closes, and no more")
		assert.False(t, m.helpOpen)
		press(m, "?")
	}
	assert.Equal(t, at, m.spot)
	press(m, "left")
	assert.EqualValues(t, 43, m.spot.Tick)
	press(m, "?")
	require.NotNil(t, press(m, "ctrl+c"))
}

func TestTheHelpSaysWhatClosesIt(t *testing.T) {
	m := sample()
	press(m, "?")
	assert.Contains(t, m.Frame(80, 24), "any other key closes and acts")
}

// TestEveryKeyIsInTheHelpAndDoesSomething: a key that nobody can find, or that
// is promised and dead, is a bug.
func TestEveryKeyIsInTheHelpAndDoesSomething(t *testing.T) {
	m := sample()
	inHelp := map[string]bool{}
	for _, group := range m.keys.FullHelp() {
		for _, b := range group {
			inHelp[strings.Join(b.Keys(), " ")] = true
		}
	}
	used := map[string]bool{}
	for _, a := range m.actions() {
		name := strings.Join(a.key.Keys(), " ")
		assert.True(t, inHelp[name], "%s is not in the help", name)
		assert.NotNil(t, a.do)
		for _, k := range a.key.Keys() {
			assert.False(t, used[k], "%s does two things", k)
			used[k] = true
		}
	}
	assert.Len(t, m.actions(), len(inHelp))
}

func TestQuit(t *testing.T) {
	for _, k := range []string{"q", "ctrl+c"} {
		cmd := press(sample(), k)
		require.NotNil(t, cmd)
		assert.Equal(t, tea.QuitMsg{}, cmd())
	}
}

func TestStatusLastsOneKey(t *testing.T) {
	m := sample()
	press(m, "s")
	assert.Contains(t, m.Frame(80, 24), "columns by |value|")
	press(m, "left")
	assert.Contains(t, m.Frame(80, 24), "? help")
}

func TestDiagnosisThatFails(t *testing.T) {
	for _, diagnose := range []func() (*rootcause.Diagnosis, error){
		func() (*rootcause.Diagnosis, error) { return nil, errors.New("no \x1b good") },
		func() (*rootcause.Diagnosis, error) { return nil, nil },
		func() (*rootcause.Diagnosis, error) { panic("broke") },
	} {
		m := viewer(recordtest.Sample(), Options{Theme: Plain, Diagnose: diagnose})
		press(m, "2", "down", "enter", "3", "down", "enter", "2")
		frame := m.Frame(80, 24)
		assert.Contains(t, frame, "no diagnosis: ")
		assert.NotContains(t, frame, "\x1b")
		assert.Contains(t, frame, "NaN in qacc[root vx]", "the trip of the manifest is shown all the same")
	}
}

func TestVerdicts(t *testing.T) {
	for verdict, want := range map[string]string{"clean": "clean: nothing wrong", "unknown": "cause unknown"} {
		m := viewer(recordtest.Sample(), Options{Theme: Plain, Diagnose: func() (*rootcause.Diagnosis, error) {
			return &rootcause.Diagnosis{Verdict: verdict}, nil
		}})
		press(m, "2")
		assert.Contains(t, m.Frame(80, 24), want)
	}
}

func TestEmptyDumps(t *testing.T) {
	env := 3
	for name, s := range map[string]*recordtest.Source{
		"nothing":   {},
		"no fields": {M: dump.Manifest{EnvIDs: []int{1}}},
		"no envs":   {M: dump.Manifest{Fields: []dump.FieldSpec{{Name: "x"}}}},
		"trip only": {M: dump.Manifest{Trip: &dump.Trip{Field: "gone", Env: &env, Tick: 5}}},
	} {
		m := viewer(s, Options{Theme: Plain})
		for page, keys := range pages {
			press(m, keys...)
			press(m, "esc", "down", "up", "enter", "b", "n", "N", "left", "right", "]", "[", "G", "g", "space", "space", "f", "s", "t", "x", "y", "pgdown")
			assert.NotPanics(t, func() { requireSize(t, m.Frame(80, 24), 80, 24) }, "%s %s", name, page)
		}
	}
}

// TestOddTicks: a damaged file may hold any number.
func TestOddTicks(t *testing.T) {
	s := &recordtest.Source{M: dump.Manifest{EnvIDs: []int{0}}}
	s.Add(dump.FieldSpec{Name: "x", PerEnv: true}, []string{"a"}, []int64{math.MinInt64, 0, 0, math.MaxInt64},
		func(f, _, _ int) float64 { return math.Log(float64(f)) })
	m := viewer(s, Options{Theme: Plain})
	for range 6 {
		press(m, "right")
		requireSize(t, m.Frame(80, 24), 80, 24)
	}
	assert.EqualValues(t, math.MaxInt64, m.spot.Tick)
	press(m, "left", "left", "left", "left")
	assert.EqualValues(t, math.MinInt64, m.spot.Tick, "frames of one tick are one place")
}

func TestInitGoesOnWithWhatPrepareLeft(t *testing.T) {
	m := New(recording.Open(recordtest.Sample()), Options{Diagnose: diagnosis})
	m.Prepare(time.Nanosecond)
	frame := m.Frame(80, 24)
	assert.Contains(t, frame, "of 5 fields")
	cmd := m.Init()
	for n := 0; cmd != nil; n++ {
		require.Less(t, n, 20)
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			msg = batch[0]()
		}
		_, cmd = m.Update(msg)
	}
	assert.NotNil(t, m.rec.Diagnosis)
	_, pending := m.rec.Pending(-1)
	assert.False(t, pending)
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		f    bool
		want string
	}{
		{1.5, true, "1.5"},
		{-1.23456789e-300, true, "-1.235e-300"},
		{1e10, true, "1e+10"},
		{0, true, "0"},
		{3, false, "3"},
		{-123456, false, "-123456"},
		{1e15, false, "1e+15"},
		{math.Copysign(0, -1), true, "-0"},
		{math.NaN(), true, "NaN"},
		{math.Inf(1), true, "+Inf"},
		{math.Inf(-1), true, "-Inf"},
		{-math.MaxFloat64, true, "-1.798e+308"},
	} {
		got := number(c.v, c.f)
		assert.Equal(t, c.want, got)
		assert.LessOrEqual(t, len(got), numberWidth)
	}
}

func TestViewSetsTheScreenUp(t *testing.T) {
	m := sample()
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	v := m.View()
	assert.True(t, v.AltScreen)
	requireSize(t, v.Content, 80, 24)
	assert.Equal(t, "viznan nan_dump_20261201_043835.npz", v.WindowTitle)
}

func BenchmarkFrame(b *testing.B) {
	for _, s := range [][2]int{{80, 24}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B) {
			m := viewer(recordtest.Sample(), Options{Diagnose: diagnosis})
			for b.Loop() {
				m.Frame(s[0], s[1])
			}
		})
	}
}
