package ui

import (
	"time"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/rootcause"
)

// Options says how the viewer starts.
type Options struct {
	Theme Theme
	// FollowTerminal lets the terminal's background choose between Dark and
	// Light.
	FollowTerminal bool
	// Diagnose makes the diagnosis; it runs beside the program, once, after
	// every field is read. Nil means that there is none to be had.
	Diagnose func() (*rootcause.Diagnosis, error)
	// Field, Env and Tick say where to open, the first two as indexes of the
	// recording's lists; what is nil is as at the first bad value.
	Field, Env *int
	Tick       *int64
}

// Model is the viewer, bubbletea's one model. New makes it.
type Model struct {
	scene
	keys    KeyMap
	options Options
	focus   Focus

	envs      envPane
	fields    fieldPane
	values    valuePane
	chart     chartPane
	causes    causePane
	checklist checkPane

	width, height int
	input         textinput.Model
	filtering     bool
	unfiltered    recording.Spot // where the selection was before the filter was typed
	help          help.Model
	helpOpen      bool
	helpTop       int
	status        string // a line about the last key, until the next one
	play          player
	job           tea.Cmd // what Prepare left to do
	diagnosed     bool    // the diagnosis was asked for
}

var _ tea.Model = (*Model)(nil)

// New returns a viewer of rec. Nothing is read yet.
func New(rec *recording.Recording, o Options) *Model {
	m := &Model{keys: DefaultKeyMap(), options: o, focus: FocusValues, play: newPlayer(), help: help.New(), input: newInput()}
	m.help.ShortSeparator = "  "
	m.rec = rec
	m.spot = recording.Spot{Col: 0, Env: min(0, len(rec.Envs)-1)}
	m.envs, m.fields.scene, m.values.scene = envPane{&m.scene}, &m.scene, &m.scene
	m.chart.scene, m.causes.scene, m.checklist.scene = &m.scene, &m.scene, &m.scene
	m.setTheme(o.Theme)
	m.place()
	return m
}

// newInput returns the line in which a filter is typed.
func newInput() textinput.Model {
	in := textinput.New()
	in.Prompt = "/"
	in.CharLimit = 80
	in.SetVirtualCursor(false) // the terminal's own needs no escape codes in the text
	return in
}

// setTheme dresses everything anew.
func (m *Model) setTheme(t Theme) {
	m.st = NewStyles(t)
	m.help.Styles = m.st.Help
	m.input.SetStyles(m.st.Input)
}

// Prepare reads fields and diagnoses until all is done or the time is spent;
// the program does the rest beside the screen. A zero budget means no limit.
func (m *Model) Prepare(budget time.Duration) {
	end := time.Now().Add(budget)
	m.job = m.nextJob()
	for m.job != nil && (budget == 0 || time.Now().Before(end)) {
		_, m.job = m.Update(m.job())
	}
}

// Init goes on with what Prepare left and asks for the terminal's background.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.job}
	if m.job == nil {
		cmds[0] = m.nextJob()
	}
	if m.options.FollowTerminal {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update takes one message in. Only here does the model change.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		if m.options.FollowTerminal && !msg.IsDark() {
			m.setTheme(Light)
		}
	case loadedMsg:
		m.rec.Install(msg.field)
		m.place()
		return m, m.nextJob()
	case diagnosedMsg:
		m.takeDiagnosis(msg)
	case playMsg:
		return m, m.playOn(msg)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		if m.filtering {
			return m, m.typeFilter(msg)
		}
	}
	return m, nil
}

// place moves to where the options say and the first bad value is, as far as
// that is known by now, unless a person has chosen a place.
func (m *Model) place() {
	if m.moved {
		return
	}
	to := m.rec.Start()
	if o := m.options.Field; o != nil && *o != to.Field {
		to.Field, to.Col = *o, -1
	}
	if o := m.options.Env; o != nil {
		to.Env = *o
	}
	if o := m.options.Tick; o != nil {
		to.Tick = *o
	}
	m.goTo(to)
}

// press handles a key: the filter line takes all of them, the help most.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	m.status = ""
	switch {
	case m.filtering:
		return m.typeFilter(k)
	case m.helpOpen:
		return m.helpKey(k)
	}
	if do := m.action(k); do != nil {
		return do()
	}
	return nil
}
