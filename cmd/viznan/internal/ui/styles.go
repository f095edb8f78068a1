package ui

import (
	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/textinput"
	"charm.land/lipgloss/v2"
)

// Theme says which colours to use.
type Theme uint8

// The themes. Plain uses neither colour nor any other escape code.
const (
	Dark Theme = iota
	Light
	Plain
)

// Styles is every look of the screen.
type Styles struct {
	Text, Faint, Bold lipgloss.Style
	Bad               lipgloss.Style // a value that is not finite: inverse, so that it stands out without colour
	BadText           lipgloss.Style
	Warn, Good        lipgloss.Style
	Accent            lipgloss.Style // lines of plots
	Second            lipgloss.Style // the env that is compared with
	Selected          lipgloss.Style
	Title, TitleFocus lipgloss.Style
	Cursor            lipgloss.Style // the moment that is shown
	Help              help.Styles
	Input             textinput.Styles
}

// NewStyles returns the styles of a theme.
func NewStyles(t Theme) *Styles {
	if t == Plain {
		return &Styles{}
	}
	pick := lipgloss.LightDark(t == Dark)
	fg := func(light, dark string) lipgloss.Style {
		return lipgloss.NewStyle().Foreground(pick(lipgloss.Color(light), lipgloss.Color(dark)))
	}
	s := &Styles{
		Faint:    fg("#6c6c6c", "#8a8a8a"),
		Bold:     lipgloss.NewStyle().Bold(true),
		BadText:  fg("#c00020", "#ff5f5f").Bold(true),
		Warn:     fg("#8a5a00", "#ffaf00"),
		Good:     fg("#00783c", "#5fd787"),
		Accent:   fg("#005fd7", "#5fafff"),
		Second:   fg("#00783c", "#5f8787"),
		Selected: fg("#000000", "#ffffff").Bold(true).Underline(true),
		Title:    fg("#6c6c6c", "#8a8a8a"),
	}
	s.Bad = s.BadText.Reverse(true)
	s.TitleFocus = s.Accent.Bold(true)
	s.Cursor = s.Warn.Bold(true)
	s.Help = help.Styles{ShortKey: s.Bold, ShortDesc: s.Faint, ShortSeparator: s.Faint, Ellipsis: s.Faint, FullKey: s.Bold, FullDesc: s.Text}
	s.Input.Focused.Prompt = s.TitleFocus
	return s
}
