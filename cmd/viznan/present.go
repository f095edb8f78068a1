package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nanguard/nanguard/cmd/viznan/internal/ui"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/report"
	"github.com/nanguard/nanguard/rootcause"
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

// diagnoser returns the function that diagnoses f.
func diagnoser(f *dump.File) func() (*rootcause.Diagnosis, error) {
	return func() (*rootcause.Diagnosis, error) {
		c, err := rootcause.NewCase(f)
		if err != nil {
			return nil, fmt.Errorf("diagnose %q: %w", f.Name(), err)
		}
		d := rootcause.Diagnose(c, rootcause.DefaultOptions())
		return &d, nil
	}
}

// printDiagnosis writes the diagnosis where the output is no terminal, and says
// by its error whether something was found.
func printDiagnosis(w io.Writer, f *dump.File) error {
	d, err := diagnoser(f)()
	if err != nil {
		return err
	}
	m := f.Manifest()
	title := fmt.Sprintf("%s: %s %s, %d envs, %d of them in the file",
		filepath.Base(f.Name()), m.Producer.Name, m.Producer.Version, m.NumEnvs, len(m.EnvIDs))
	if err := report.Text(w, d, report.Options{Title: title, Width: cli.Width(w), Color: cli.Color(w)}); err != nil {
		return err
	}
	if d.Verdict != rootcause.Clean {
		return cli.ErrFound
	}
	return nil
}
