package cell

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/nanguard/nanguard/internal/safetext"
)

// Ellipsis stands where text was cut.
const Ellipsis = "…"

// Clean returns s as one harmless line whose width is the same in every
// terminal: text on which the two ways of counting disagree keeps its ASCII
// and shows the rest as escapes.
func Clean(s string) string {
	s = safetext.Line(s)
	if ascii(s) || ansi.StringWidth(s) == ansi.StringWidthWc(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// ascii reports whether s is pure ASCII.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Width returns the cells that s takes; escape codes take none.
func Width(s string) int { return ansi.StringWidth(s) }

// Fit returns s in exactly w cells: cut at the right with an ellipsis, or
// padded with spaces.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s)
	if n > w {
		s = ansi.Truncate(s, w, Ellipsis)
		n = Width(s)
	}
	return s + strings.Repeat(" ", w-n)
}

// Right is Fit with the padding at the left.
func Right(s string, w int) string {
	if n := Width(s); n < w {
		return strings.Repeat(" ", w-n) + s
	}
	return Fit(s, w)
}

// Tail returns the last w cells of s at most, an ellipsis in front when
// something was cut: the end of a path tells more than its beginning.
func Tail(s string, w int) string {
	n := Width(s)
	switch {
	case w <= 0:
		return ""
	case n <= w:
		return s
	}
	for cut := n - w + 1; ; cut++ { // a wide character may need one more
		if t := ansi.TruncateLeft(s, cut, Ellipsis); Width(t) <= w {
			return t
		}
	}
}

// Cut returns s in at most w cells.
func Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, Ellipsis)
}

// Spread puts left and right at the ends of exactly w cells, a space at least
// between them. Where there is no room for both, left is cut.
func Spread(left, right string, w int) string {
	n := Width(right)
	switch {
	case n == 0 || n+2 > w:
		return Fit(left, w)
	case Width(left) < w-n:
		return Fit(left, w-n) + right
	}
	return Fit(left, w-n-1) + " " + right
}

// Wrap breaks plain text at spaces into lines of at most w cells; a word that
// is longer is cut into pieces. A character wider than w is left out.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && Width(line)+1+Width(word) <= w {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		pieces := pieces(word, w)
		lines, line = append(lines, pieces[:len(pieces)-1]...), pieces[len(pieces)-1]
	}
	return append(lines, line)
}

// pieces cuts a word into parts of at most w cells, one at least.
func pieces(word string, w int) []string {
	var parts []string
	for Width(word) > w {
		head := ansi.Truncate(word, w, "")
		if head == "" {
			_, n := utf8.DecodeRuneInString(word)
			word = word[n:]
			continue
		}
		parts, word = append(parts, head), word[len(head):]
	}
	return append(parts, word)
}
