package cell

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
)

func TestFitHasExactlyTheWidth(t *testing.T) {
	for _, s := range []string{"", "a", "hello", "日本語", "\x1b[31mred\x1b[0m text", "é́"} {
		for w := range 12 {
			assert.Equal(t, w, Width(Fit(s, w)), "%q in %d", s, w)
			assert.Equal(t, w, Width(Right(s, w)), "%q in %d", s, w)
			assert.LessOrEqual(t, Width(Tail(s, w)), w, "%q in %d", s, w)
			assert.LessOrEqual(t, Width(Cut(s, w)), w, "%q in %d", s, w)
		}
	}
}

func TestFit(t *testing.T) {
	assert.Equal(t, "hel…", Fit("hello", 4))
	assert.Equal(t, "hello ", Fit("hello", 6))
	assert.Equal(t, " hello", Right("hello", 6))
	assert.Equal(t, "…llo", Tail("hello", 4))
	assert.Equal(t, "hello", Tail("hello", 5))
	assert.Equal(t, "日… ", Fit("日本語", 4), "a wide character is not halved")
}

func TestSpread(t *testing.T) {
	assert.Equal(t, "left   end", Spread("left", "end", 10))
	assert.Equal(t, "left end", Spread("left", "end", 8))
	assert.Equal(t, "le… end", Spread("left", "end", 7))
	assert.Equal(t, "le…", Spread("left", "", 3))
	assert.Equal(t, "left", Spread("left", "end", 4), "no room for both")
	assert.Equal(t, "", Spread("left", "end", 0))
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, Wrap("one two three", 8))
	assert.Equal(t, []string{"abcd", "efgh", "ij"}, Wrap("abcdefghij", 4))
	assert.Nil(t, Wrap("a", 0))
	for w := 1; w < 20; w++ {
		for _, l := range Wrap("a 日本語 wordthatislong x-y.z_w", w) {
			assert.LessOrEqual(t, Width(l), w, "%q in %d", l, w)
		}
	}
}

// TestCleanAgreesWithEveryTerminal: text that one terminal shows in other
// cells than the next would push the panes apart.
func TestCleanAgreesWithEveryTerminal(t *testing.T) {
	for _, s := range []string{
		"plain", "größe", "日本語", "e\u0301", "\x1b[2Jx", "a\u202eb", "👍🏽", "👨\u200d👩\u200d👧", "❤\ufe0f", "🇩🇪",
	} {
		c := Clean(s)
		assert.Equal(t, ansi.StringWidth(c), ansi.StringWidthWc(c), "%q became %q", s, c)
		assert.NotContains(t, c, "\x1b")
		assert.NotContains(t, c, "\u202e")
	}
	assert.Equal(t, "größe", Clean("größe"))
	assert.Equal(t, `\x1b[2Jx`, Clean("\x1b[2Jx"))
}
