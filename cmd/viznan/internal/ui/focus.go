package ui

// Focus names the pane that up, down and enter go to.
type Focus uint8

// The panes that can have the focus, in the order of the tab key.
const (
	FocusEnvs Focus = iota
	FocusFields
	FocusValues
	FocusCauses
	FocusChecklist
	focusCount
)

// next returns the pane n places on.
func (f Focus) next(n int) Focus {
	return Focus((int(f) + n + int(focusCount)) % int(focusCount))
}
