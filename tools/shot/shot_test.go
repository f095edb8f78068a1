package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shot runs the command on a screen.
func shot(t *testing.T, screen string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	require.Zero(t, run(args, strings.NewReader(screen), &out, &errs), errs.String())
	return out.String()
}

// requireXML reads the whole picture as XML.
func requireXML(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, svg)
	}
}

const screen = "\x1b[1mbold\x1b[0m plain \x1b[31mred\x1b[m\n" +
	"\x1b[1;7;38;2;255;95;95m NaN \x1b[0m \x1b[4;38;5;75mline\x1b[24;39m  ▁▄█▌ ░│━ \x1b[48;5;236m⠉⠒⣿\x1b[49m end\n"

func TestPicture(t *testing.T) {
	svg := shot(t, screen, "-title", "a & b")
	requireXML(t, svg)
	golden.RequireEqual(t, svg)
	assert.Equal(t, svg, shot(t, screen, "-title", "a & b"), "the same screen gives the same picture")
}

func TestHostileText(t *testing.T) {
	svg := shot(t, "<script>&\"'\x1b]0;title\a\x1b[2J\x07\x00\xff日本é👩\u200d👧 ]]>\n\x1b[38;5m\x1b[38;2;1m\x1b[999;48m\x1b[38;5;300mx\x1b[", "-title", "</text><script>")
	requireXML(t, svg)
	assert.NotContains(t, svg, "<script")
	assert.NotContains(t, svg, "\x1b")
	assert.Contains(t, svg, "&lt;script&gt;")
}

func TestParseStyles(t *testing.T) {
	for in, want := range map[string]style{
		"x":                                 {},
		"\x1b[1;2;3;4;7mx":                  {bold: true, faint: true, italic: true, underline: true, inverse: true},
		"\x1b[1;2;3;4;7m\x1b[22;23;24;27mx": {},
		"\x1b[31;42mx":                      {fg: basic[1], bg: basic[2]},
		"\x1b[95;104mx":                     {fg: basic[13], bg: basic[12]},
		"\x1b[38;5;196;48;5;244mx":          {fg: "#ff0000", bg: "#808080"},
		"\x1b[38;2;1;2;3mx":                 {fg: "#010203"},
		"\x1b[38;2;1;2;3m\x1b[39mx":         {},
		"\x1b[31m\x1b[mx":                   {},
		"\x1b[31m\x1b[0mx":                  {},
		"\x1b[?25lx":                        {},
	} {
		lines := parse(in)
		require.Len(t, lines, 1)
		require.Len(t, lines[0], 1, "%q", in)
		assert.Equal(t, want, lines[0][0].style, "%q", in)
	}
}

func TestColoursAreSwappedWhenInverse(t *testing.T) {
	fg, bg := style{fg: "#ff0000", inverse: true}.colours()
	assert.Equal(t, backColour, fg)
	assert.Equal(t, "#ff0000", bg)
	fg, bg = style{}.colours()
	assert.Equal(t, textColour, fg)
	assert.Empty(t, bg)
}

func TestSizeFollowsTheScreen(t *testing.T) {
	w, h := size(parse("abc\n日本\n"))
	assert.InDelta(t, 2*margin+4*cellWidth, w, 1e-9)
	assert.InDelta(t, titleBar+2*cellHeight+margin, h, 1e-9)
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-nope"}, {"file"}} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, run(args, strings.NewReader(""), &out, &errs))
		assert.NotEmpty(t, errs.String())
		assert.Empty(t, out.String())
	}
}

// broken fails as a closed pipe does.
type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errors.New("gone") }
func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestStreamsThatFail(t *testing.T) {
	var errs bytes.Buffer
	assert.Equal(t, 1, run(nil, broken{}, io.Discard, &errs))
	assert.Equal(t, 1, run(nil, strings.NewReader("x"), broken{}, &errs))
	assert.Equal(t, "shot: read the screen: gone\nshot: write the picture: gone\n", errs.String())
}

// FuzzPicture: whatever a screen holds, the picture is well-formed.
func FuzzPicture(f *testing.F) {
	f.Add(screen)
	f.Add("\x1b[38;2;255mx\x1b]8;;http://x\a<a>\x1b\\")
	f.Fuzz(func(t *testing.T, s string) {
		requireXML(t, shot(t, s))
	})
}
