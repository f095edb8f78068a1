package safetext

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "qpos left_knee", "qpos left_knee"},
		{"unicode", "関節 µ→é", "関節 µ→é"},
		{"escape", "a\x1b[31mred\x1b[0m", `a\x1b[31mred\x1b[0m`},
		{"osc", "\x1b]0;title\a", `\x1b]0;title\x07`},
		{"newline and tab", "a\nb\tc\r", `a\x0ab\x09c\x0d`},
		{"c1", "a\u009b31m", `a\u009b31m`},
		{"bidi", "abc\u202ecod.exe", `abc\u202ecod.exe`},
		{"isolate", "\u2066x\u2069", `\u2066x\u2069`},
		{"zero width", "a\u200bb\ufeff", `a\u200bb\ufeff`},
		{"tags", "a\U000e0041", `a\U000e0041`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"not utf-8", "a\xffb", `a\xffb`},
		{"no-break space", "a\u00a0b", `a\u00a0b`},
	} {
		assert.Equal(t, c.want, Line(c.in), c.name)
	}
}

func TestClip(t *testing.T) {
	assert.Equal(t, "abc", Clip("abc", 3))
	assert.Equal(t, "ab…", Clip("abcd", 3))
	assert.LessOrEqual(t, len([]rune(Clip(strings.Repeat("\x1b", 1000), 40))), 40)
}

func FuzzLine(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Line(s) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
				t.Fatalf("Line(%q) holds %U", s, r)
			}
		}
	})
}
