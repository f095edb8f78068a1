package cli

import (
	"io"
	"os"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// Width returns the columns of the terminal behind w, 0 when it is none.
func Width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}

// Color reports whether text for w may be coloured: a terminal that can, and
// no NO_COLOR in the environment.
func Color(w io.Writer) bool {
	return colorprofile.Detect(w, os.Environ()) > colorprofile.ASCII
}
