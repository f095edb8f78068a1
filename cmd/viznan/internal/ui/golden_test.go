package ui

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording/recordtest"
)

func TestGolden(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {40, 12}} {
		for name, keys := range pages {
			t.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], name), func(t *testing.T) {
				t.Parallel()
				m := sample()
				press(m, keys...)
				golden.RequireEqual(t, m.Frame(size[0], size[1])+"\n")
			})
		}
	}
}

// TestGoldenColour holds the escape codes of both themes.
func TestGoldenColour(t *testing.T) {
	for name, theme := range map[string]Theme{"dark": Dark, "light": Light} {
		t.Run(name, func(t *testing.T) {
			m := viewer(recordtest.Sample(), Options{Theme: theme, Diagnose: diagnosis})
			golden.RequireEqual(t, m.Frame(80, 24)+"\n")
		})
	}
}
