package main

import (
	"fmt"
	"io"
	"time"

	"github.com/nanguard/nanguard/fixtures"
	"github.com/nanguard/nanguard/internal/cli"
)

// progress says how far something is: on one line of a terminal, or now and then
// on a line of its own where the output is none.
type progress struct {
	w        io.Writer
	terminal bool
	every    time.Duration
	said     time.Time
}

// newProgress returns a progress that has not said anything.
func newProgress(w io.Writer) *progress {
	if cli.IsTerminal(w) {
		return &progress{w: w, terminal: true, every: 50 * time.Millisecond}
	}
	return &progress{w: w, every: time.Second, said: time.Now()}
}

// show says how far a run is, if it is time to.
func (p *progress) show(s fixtures.Progress) {
	if time.Since(p.said) < p.every {
		return
	}
	p.say(fmt.Sprintf("iteration %d of at most %d, %d env steps, mean reward %.3f", s.Iteration, s.Iterations, s.EnvSteps, s.Reward))
}

// say says a line, whatever the time.
func (p *progress) say(line string) {
	p.said = time.Now()
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// end clears the line.
func (p *progress) end() {
	if p.terminal && !p.said.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
