package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// player steps through the frames by itself.
type player struct {
	on    bool
	speed int // index of speeds
	run   int // counts the starts, so that a tick of an earlier one is dropped
}

// speeds are the frames per second to choose from.
var speeds = []int{1, 2, 5, 10, 20, 40}

func newPlayer() player { return player{speed: 3} }

// playMsg says that the next frame is due.
type playMsg struct{ run int }

// tick waits for the next frame.
func (p player) tick() tea.Cmd {
	run := p.run
	return tea.Tick(time.Second/time.Duration(speeds[p.speed]), func(time.Time) tea.Msg { return playMsg{run} })
}

// togglePlay starts or stops; at the end it starts from the beginning.
func (m *Model) togglePlay() tea.Cmd {
	m.play.on = !m.play.on
	m.play.run++
	if !m.play.on {
		return nil
	}
	m.moved = true
	if m.atEnd() {
		m.edge(false)
	}
	return m.play.tick()
}

// playOn shows the next frame and stops at the last.
func (m *Model) playOn(msg playMsg) tea.Cmd {
	if !m.play.on || msg.run != m.play.run {
		return nil
	}
	m.step(1)
	if m.atEnd() {
		m.play.on = false
		return nil
	}
	return m.play.tick()
}

// changeSpeed plays n steps faster.
func (m *Model) changeSpeed(n int) {
	m.play.speed = clampIndex(m.play.speed+n, len(speeds))
	m.status = playing(speeds[m.play.speed])
}

// state says how the replay runs, "" while it stands.
func (p player) state() string {
	if !p.on {
		return ""
	}
	return playing(speeds[p.speed])
}
