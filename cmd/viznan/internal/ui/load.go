package ui

import (
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/rootcause"
)

// loadedMsg brings a field that was read.
type loadedMsg struct{ field recording.Loaded }

// diagnosedMsg brings the diagnosis, or why there is none.
type diagnosedMsg struct {
	diagnosis *rootcause.Diagnosis
	err       error
}

// nextJob returns what is to be done beside the program next: read a field, the
// selected one first, or diagnose; nil when all is done. One job runs at a
// time.
func (m *Model) nextJob() tea.Cmd {
	if i, ok := m.rec.Pending(m.spot.Field); ok {
		rec := m.rec
		return func() tea.Msg { return loadedMsg{rec.Load(i)} }
	}
	if m.diagnosed || m.options.Diagnose == nil {
		return nil
	}
	m.diagnosed = true
	diagnose := m.options.Diagnose
	return func() tea.Msg { return runDiagnosis(diagnose) }
}

// runDiagnosis turns a panic into a message: a dump that breaks a rule of the
// diagnosis can still be looked at.
func runDiagnosis(diagnose func() (*rootcause.Diagnosis, error)) (msg diagnosedMsg) {
	defer func() {
		if r := recover(); r != nil {
			msg = diagnosedMsg{err: fmt.Errorf("the diagnosis broke: %v", r)}
		}
	}()
	d, err := diagnose()
	if err == nil && d == nil {
		err = errors.New("the dump holds nothing to diagnose")
	}
	return diagnosedMsg{d, err}
}

// takeDiagnosis shows what was found.
func (m *Model) takeDiagnosis(msg diagnosedMsg) {
	m.causes.err = msg.err
	if msg.err == nil {
		m.rec.Diagnose(msg.diagnosis)
		m.place()
	}
}
