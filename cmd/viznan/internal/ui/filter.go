package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
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
	m.filtering, m.unfiltered = true, m.spot
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
			m.setField(m.unfiltered.Field)
			m.spot.Col = m.unfiltered.Col
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
	m.settle()
	return cmd
}

// settle moves the selection to a row that is shown where a filter hides it, so
// that the plot is of something in the table. Where none is shown it stays.
func (m *Model) settle() {
	was := m.spot
	m.fields.move(0)
	m.values.move(0)
	m.moved = m.moved || m.spot != was
}

// jump goes to a place that was asked for, and drops the filters where they
// hide it.
func (m *Model) jump(to recording.Spot) {
	m.goTo(to)
	if m.hidden() {
		m.clearFilter()
		m.status = "filters cleared: they hid this place"
	}
}

// hidden reports whether a filter keeps what is selected from being shown.
func (m *Model) hidden() bool {
	if !m.faults && m.fields.filter == "" && m.values.filter == "" {
		return false
	}
	v, _, ok := m.view()
	return !slices.Contains(m.fields.shown(), m.spot.Field) || ok && !slices.Contains(m.values.columns(v), m.spot.Col)
}

// clearFilter shows every row again.
func (m *Model) clearFilter() {
	m.fields.filter, m.values.filter, m.faults = "", "", false
}
