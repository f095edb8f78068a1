// Package forensics is the way from a file name to a diagnosis on the screen,
// as both commands go it: open the dump within a limit of memory, diagnose it,
// print it, and say by an error whether something was found.
package forensics

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/report"
	"github.com/nanguard/nanguard/rootcause"
)

// arrayShare is the part of the memory limit that decoded arrays may take; the
// rest is for the program itself and for what the collector has not yet freed.
const arrayShare = 0.75

// Open opens a dump so that the whole process stays within limit bytes.
func Open(name string, limit cli.ByteSize) (*dump.File, error) {
	debug.SetMemoryLimit(int64(limit))
	return dump.OpenWith(name, dump.Options{MaxBytes: int64(arrayShare * float64(limit))})
}

// Diagnose diagnoses an open dump.
func Diagnose(f *dump.File) (*rootcause.Diagnosis, error) {
	return DiagnoseWith(f, rootcause.DefaultOptions())
}

// DiagnoseWith is Diagnose with options.
func DiagnoseWith(f *dump.File, o rootcause.Options) (*rootcause.Diagnosis, error) {
	c, err := rootcause.NewCase(f)
	if err != nil {
		return nil, fmt.Errorf("diagnose %q: %w", f.Name(), err)
	}
	d := rootcause.Diagnose(c, o)
	return &d, nil
}

// Print writes a diagnosis for a person, as wide and as coloured as w can take.
func Print(w io.Writer, f *dump.File, d *rootcause.Diagnosis) error {
	m := f.Manifest()
	return report.Text(w, d, report.Options{
		Title: fmt.Sprintf("%s: %s, %d envs, %d of them in the file",
			filepath.Base(f.Name()), Producer(m), m.NumEnvs, len(m.EnvIDs)),
		Width: cli.Width(w), Color: cli.Color(w),
	})
}

// Producer names the program that wrote a dump.
func Producer(m *dump.Manifest) string {
	return strings.TrimSpace(m.Producer.Name + " " + m.Producer.Version)
}

// Found returns cli.ErrFound when the diagnosis is anything but clean.
func Found(d *rootcause.Diagnosis) error {
	if d.Verdict == rootcause.Clean {
		return nil
	}
	return cli.ErrFound
}
