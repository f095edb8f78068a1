// Package safetext makes text out of an untrusted file fit for a terminal: what
// a dump calls its fields, envs and events must never move the cursor, hide
// characters or turn the reading direction.
package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line without control, formatting or private
// characters: each stands there as a visible escape such as \x1b or \u202e, and
// bytes that are not UTF-8 as \xff. Text that is harmless comes back as it is.
func Line(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case shown(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// Clip returns Line(s) cut to at most n runes, the last one an ellipsis when
// something was cut. It bounds what a hostile name can take of a message.
func Clip(s string, n int) string {
	s = Line(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:max(n-1, 0)]) + "…"
}

// harmless reports whether s can stand in a terminal unchanged.
func harmless(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !shown(r) {
			return false
		}
	}
	return true
}

// shown reports whether r is a printing character or a plain space. Format
// characters (bidi marks, zero-width joiners, tags) are Cf and so not graphic.
func shown(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r)
}
