package ui

import (
	tea "charm.land/bubbletea/v2"
)

// filter returns the filter that / edits: that of the columns when the values
// are in focus, else that of the fields.
func (m *Model) filter() *string {
	if m.focus == FocusValues {
		return &m.values.filter
	}
	return &m.fields.filter
}

// openFilter shows the filter line.
func (m *Model) openFilter() tea.Cmd {
	m.filtering = true
	m.input.SetValue(*m.filter())
	m.input.CursorEnd()
	return m.input.Focus()
}

// typeFilter takes one message of the filter line: the rows follow as one
// types, enter keeps the filter, esc drops it.
func (m *Model) typeFilter(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "ctrl+c":
			return tea.Quit
		case "esc":
			m.input.SetValue("")
			fallthrough
		case "enter":
			m.filtering = false
			m.input.Blur()
			*m.filter() = m.input.Value()
			return nil
		}
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	*m.filter() = m.input.Value()
	return cmd
}

// clearFilter shows every row again.
func (m *Model) clearFilter() {
	m.fields.filter, m.values.filter, m.faults = "", "", false
}
