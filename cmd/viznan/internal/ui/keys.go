package ui

import "charm.land/bubbles/v2/key"

// KeyMap is every key of the viewer. Help is made from it.
type KeyMap struct {
	// time
	Next, Prev, NextTen, PrevTen, NextTick, PrevTick key.Binding
	First, Last, Play, Faster, Slower                key.Binding
	// places
	NextMark, PrevMark, FirstBad, Onset key.Binding
	// panes
	Focus, FocusBack, Up, Down, PageUp, PageDown key.Binding
	Values, Causes, Checklist                    key.Binding
	// what is shown
	Filter, Clear, Faults, Sort, Scale, Compare, Trace key.Binding
	// the rest
	Yank, Help, Quit key.Binding
}

// bind makes a binding from its help and its keys.
func bind(shown, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, does))
}

// DefaultKeyMap returns the keys that viznan starts with.
func DefaultKeyMap() KeyMap {
	return KeyMap{
		Next:     bind("→ l", "next frame", "right", "l"),
		Prev:     bind("← h", "previous frame", "left", "h"),
		NextTen:  bind("shift+→ .", "ten frames on", "shift+right", "."),
		PrevTen:  bind("shift+← ,", "ten frames back", "shift+left", ","),
		NextTick: bind("]", "next tick of any field", "]"),
		PrevTick: bind("[", "previous tick of any field", "["),
		First:    bind("home g", "first frame", "home", "g"),
		Last:     bind("end G", "last frame", "end", "G"),
		Play:     bind("space", "play, pause", "space"),
		Faster:   bind("+", "play faster", "+", "="),
		Slower:   bind("-", "play slower", "-", "_"),

		NextMark: bind("n", "next event or onset", "n"),
		PrevMark: bind("N", "previous event or onset", "N"),
		FirstBad: bind("b", "first bad, then its root", "b"),
		Onset:    bind("enter", "where this row went bad", "enter"),

		Focus:     bind("tab", "next pane", "tab"),
		FocusBack: bind("shift+tab", "previous pane", "shift+tab"),
		Up:        bind("↑ k", "up", "up", "k"),
		Down:      bind("↓ j", "down", "down", "j"),
		PageUp:    bind("pgup", "ten rows up", "pgup"),
		PageDown:  bind("pgdn", "ten rows down", "pgdown"),
		Values:    bind("1", "values and plot", "1"),
		Causes:    bind("2", "causes", "2"),
		Checklist: bind("3", "checklist", "3"),

		Filter:  bind("/", "filter fields or columns", "/"),
		Clear:   bind("esc", "clear the filter", "esc"),
		Faults:  bind("f", "faults only", "f"),
		Sort:    bind("s", "sort columns", "s"),
		Scale:   bind("p", "scale of the plot", "p"),
		Compare: bind("x", "compare with a healthy env", "x"),
		Trace:   bind("t", "trace over all envs", "t"),

		Yank: bind("y", "copy the export command", "y"),
		Help: bind("?", "help", "?"),
		Quit: bind("q", "quit", "q", "ctrl+c"),
	}
}

// ShortHelp returns the keys of the bottom line, the most wanted first, in
// fewer words and with a pair of keys as one.
func (k KeyMap) ShortHelp() []key.Binding {
	return []key.Binding{
		k.Help, brief(k.Next, "←→", "step"), brief(k.FirstBad, "b", "first bad"), brief(k.NextMark, "n", "event"),
		brief(k.Play, "space", "play"), brief(k.Focus, "tab", "pane"), brief(k.Filter, "/", "filter"), k.Quit,
		brief(k.Values, "1", "values"), k.Causes, k.Checklist, k.Faults, brief(k.Sort, "s", "sort"),
		brief(k.Scale, "p", "plot scale"), brief(k.Compare, "x", "compare"), brief(k.Trace, "t", "trace"),
	}
}

// brief returns the binding with another help text.
func brief(b key.Binding, shown, does string) key.Binding {
	b.SetHelp(shown, does)
	return b
}

// FullHelp returns every key in groups.
func (k KeyMap) FullHelp() [][]key.Binding {
	return [][]key.Binding{
		{k.Prev, k.Next, k.PrevTen, k.NextTen, k.PrevTick, k.NextTick, k.First, k.Last, k.Play, k.Faster, k.Slower},
		{k.FirstBad, k.NextMark, k.PrevMark, k.Onset, k.Focus, k.FocusBack, k.Up, k.Down, k.PageUp, k.PageDown},
		{k.Values, k.Causes, k.Checklist, k.Filter, k.Clear, k.Faults, k.Sort, k.Scale, k.Compare, k.Trace},
		{k.Yank, k.Help, k.Quit},
	}
}
