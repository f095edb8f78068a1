package ui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/plot"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
)

// action is what a key does.
type action struct {
	key key.Binding
	do  func() tea.Cmd
}

// actions lists every key with what it does.
func (m *Model) actions() []action {
	k := &m.keys
	return append(m.moves(), []action{
		{k.Focus, plain(func() { m.focus = m.focus.next(1) })},
		{k.FocusBack, plain(func() { m.focus = m.focus.next(-1) })},
		{k.Values, plain(func() { m.focus = FocusValues })},
		{k.Causes, plain(func() { m.focus = FocusCauses })},
		{k.Checklist, plain(func() { m.focus = FocusChecklist })},
		{k.Up, plain(func() { m.moveRow(-1) })},
		{k.Down, plain(func() { m.moveRow(1) })},
		{k.PageUp, plain(func() { m.moveRow(-10) })},
		{k.PageDown, plain(func() { m.moveRow(10) })},
		{k.Filter, m.openFilter},
		{k.Clear, plain(m.clearFilter)},
		{k.Faults, plain(m.toggleFaults)},
		{k.Sort, plain(func() { m.sort = (m.sort + 1) % sortOrders; m.status = "columns " + m.sort.String() })},
		{k.Scale, plain(func() {
			m.chart.scale = (m.chart.scale + 1) % (plot.SymLog + 1)
			m.status = "plot scale " + m.chart.scale.String()
		})},
		{k.Compare, plain(m.toggleCompare)},
		{k.Trace, plain(m.toggleTrace)},
		{k.Yank, m.yank},
		{k.Help, plain(func() { m.helpOpen, m.helpTop = true, 0 })},
		{k.Quit, func() tea.Cmd { return tea.Quit }},
	}...)
}

// action returns what a key does, nil for one that does nothing.
func (m *Model) action(k tea.KeyPressMsg) func() tea.Cmd {
	for _, a := range m.actions() {
		if key.Matches(k, a.key) {
			return a.do
		}
	}
	return nil
}

// moves lists the keys that go to another moment.
func (m *Model) moves() []action {
	k := &m.keys
	list := []action{
		{k.Next, plain(func() { m.step(1) })},
		{k.Prev, plain(func() { m.step(-1) })},
		{k.NextTen, plain(func() { m.step(10) })},
		{k.PrevTen, plain(func() { m.step(-10) })},
		{k.NextTick, plain(func() { m.spot.Tick = m.rec.Step(m.spot.Tick, 1) })},
		{k.PrevTick, plain(func() { m.spot.Tick = m.rec.Step(m.spot.Tick, -1) })},
		{k.First, plain(func() { m.edge(false) })},
		{k.Last, plain(func() { m.edge(true) })},
		{k.NextMark, plain(func() { m.toMark(1) })},
		{k.PrevMark, plain(func() { m.toMark(-1) })},
		{k.FirstBad, plain(m.toFirstBad)},
		{k.Onset, plain(m.toOnset)},
		{k.Play, m.togglePlay},
		{k.Faster, plain(func() { m.changeSpeed(1) })},
		{k.Slower, plain(func() { m.changeSpeed(-1) })},
	}
	for i, a := range list {
		list[i].do = func() tea.Cmd { m.moved = true; return a.do() }
	}
	return list
}

// plain makes an action of what needs no command.
func plain(f func()) func() tea.Cmd {
	return func() tea.Cmd { f(); return nil }
}

// moveRow moves the cursor of the pane in focus.
func (m *Model) moveRow(n int) {
	switch m.focus {
	case FocusEnvs:
		m.envs.move(n)
		m.moved = true
		m.settle()
	case FocusFields:
		m.fields.move(n)
		m.moved = true
		m.settle()
	case FocusValues:
		m.values.move(n)
		m.moved = true
	case FocusCauses:
		at := Arrange(m.width, m.height, len(m.envs.rows()), m.focus).Causes
		m.causes.move(n, at.W, at.H)
	case FocusChecklist:
		m.checklist.move(n)
	}
}

// toMark goes to the next event or onset that concerns the env.
func (m *Model) toMark(dir int) {
	to, ok := m.rec.Next(m.spot.Tick, dir, m.envID())
	if !ok {
		m.status = "no event or onset of this env that way"
		return
	}
	m.spot.Tick = to
}

// toFirstBad goes to the first bad value; from there to where it began.
func (m *Model) toFirstBad() {
	bad, ok := m.rec.FirstBad()
	var root recording.Spot
	began := false
	if d := m.rec.Diagnosis; d != nil {
		root, began = m.rec.OnsetSpot(d.Root)
	}
	switch {
	case ok && !m.at(bad):
		m.jump(bad)
	case began && !m.at(root):
		m.status = "where it began"
		m.jump(root)
	case !ok && !began:
		m.status = "nothing bad is recorded"
	}
}

// at reports whether the place is the one that is looked at.
func (m *Model) at(s recording.Spot) bool {
	return m.spot.Field == s.Field && m.spot.Tick == s.Tick && (s.Env < 0 || m.spot.Env == s.Env) && m.spot.Col == s.Col
}

// toOnset goes to where the selected row of the pane in focus went bad.
func (m *Model) toOnset() {
	var to recording.Spot
	var ok bool
	switch m.focus {
	case FocusEnvs:
		to, ok = m.envs.onset()
	case FocusFields:
		to, ok = m.fields.onset()
	case FocusValues:
		to, ok = m.values.onset()
	case FocusCauses:
		to, ok = m.causes.onset()
	case FocusChecklist:
		to, ok = m.checklist.onset()
	}
	if !ok {
		m.status = "nothing bad is recorded for this row"
		return
	}
	m.jump(to)
}

func (m *Model) toggleFaults() {
	m.faults = !m.faults
	m.status = "every row"
	if m.faults {
		m.status = "faults only"
	}
	m.settle()
}

// toggleCompare shows the difference to a healthy env instead of the change in
// time.
func (m *Model) toggleCompare() {
	i, ok := m.rec.Reference(m.spot.Env)
	if !ok {
		m.status = "no other env in the file to compare with"
		return
	}
	m.compare = !m.compare
	m.status = "change from frame to frame"
	if m.compare {
		m.status = fmt.Sprintf("compared with env %d", m.rec.Envs[i].ID)
	}
}

// toggleTrace changes between the frames of the selected field and its trace.
func (m *Model) toggleTrace() {
	f := m.field()
	if f == nil || f.Trace == nil || f.Frames == nil {
		m.status = "this field has no other record"
		return
	}
	m.trace = !m.trace
	m.setField(m.spot.Field)
}

// yank copies the command that exports what is looked at.
func (m *Model) yank() tea.Cmd {
	f := m.field()
	if f == nil {
		return nil
	}
	command := "nanguard export " + quote(m.rec.Path) + " " + quote(f.Spec.Name)
	if e, ok := m.env(); ok && f.Spec.PerEnv {
		command += fmt.Sprintf(" --env %d", e.ID)
	}
	m.status = "copied: " + clean(command)
	return tea.SetClipboard(command)
}

// quote makes an argument of a shell command.
func quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=@%", r)
	}
	if s != "" && strings.TrimFunc(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
