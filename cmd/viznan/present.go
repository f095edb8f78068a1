package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/ui"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/forensics"
)

// startBudget is how long reading may hold up the first screen. Most dumps are
// read and diagnosed within it; a large one goes on beside the screen.
const startBudget = 30 * time.Millisecond

// replay runs the viewer in the terminal.
func replay(ctx context.Context, m *ui.Model, stdin io.Reader, stdout io.Writer) error {
	m.Prepare(startBudget)
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithOutput(stdout)}
	if f, ok := stdin.(*os.File); !ok || f != os.Stdin { // left alone, bubbletea finds the terminal behind a pipe
		options = append(options, tea.WithInput(stdin))
	}
	_, err := tea.NewProgram(m, options...).Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// once draws one screen, with everything read, and nothing else.
func once(w io.Writer, m *ui.Model, o *flags) error {
	m.Prepare(0)
	_, err := fmt.Fprintln(w, m.Frame(o.width, o.height))
	return err
}

// printDiagnosis writes the diagnosis where the output is no terminal, and says
// by its error whether something was found.
func printDiagnosis(w io.Writer, f *dump.File) error {
	d, err := forensics.Diagnose(f)
	if err != nil {
		return err
	}
	if err := forensics.Print(w, f, d); err != nil {
		return err
	}
	return forensics.Found(d)
}
