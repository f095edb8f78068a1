package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/rootcause"
)

// The statuses of a checked file, from good to worst.
const (
	statusOK    = "ok"
	statusBad   = "bad"
	statusError = "error"
)

// checkResult is the JSON of the check command.
type checkResult struct {
	Files []checkedFile `json:"files"`
	Worst string        `json:"worst"`
}

// checkedFile is the verdict over one dump.
type checkedFile struct {
	File    string `json:"file"`
	Status  string `json:"status"`
	Verdict string `json:"verdict"`
	Message string `json:"message"`
}

// newCheck returns the check command.
func newCheck(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check PATH...",
		Short: "Give a verdict over dumps and folders of dumps, for CI",
		Long: "check diagnoses every dump named, and every .npz below every folder named (a folder without one is fine:\n" +
			"nothing crashed). The exit code is 0 when all are clean, 3 when one is bad and 1 when one cannot be read.",
		Example: "  nanguard check nan_dumps\n  nanguard check a.npz b.npz --json | jq .worst",
		Args:    cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			r := g.check(args)
			if g.json {
				if err := writeJSON(c.OutOrStdout(), r); err != nil {
					return err
				}
			} else if err := r.print(c.OutOrStdout()); err != nil {
				return err
			}
			return r.err()
		},
	}
}

// check gives the verdict over all paths.
func (g *globals) check(paths []string) *checkResult {
	r := &checkResult{Files: []checkedFile{}, Worst: statusOK}
	for _, path := range paths {
		names, err := dumpsBelow(path)
		if err != nil {
			r.add(checkedFile{File: path, Status: statusError, Message: err.Error()})
		}
		for _, name := range names {
			r.add(g.checkFile(name))
		}
	}
	return r
}

// add takes one verdict into the result.
func (r *checkResult) add(f checkedFile) {
	order := []string{statusOK, statusBad, statusError}
	r.Files = append(r.Files, f)
	if slices.Index(order, f.Status) > slices.Index(order, r.Worst) {
		r.Worst = f.Status
	}
}

// checkFile diagnoses one dump.
func (g *globals) checkFile(name string) checkedFile {
	f, d, err := g.diagnose(name, rootcause.DefaultOptions())
	if err != nil {
		return checkedFile{File: name, Status: statusError, Message: cli.OneLine(err.Error())}
	}
	defer f.Close()
	r := checkedFile{File: name, Status: statusBad, Verdict: d.Verdict, Message: summary(d)}
	if d.Verdict == rootcause.Clean {
		r.Status = statusOK
	}
	return r
}

// summary says a diagnosis in one line.
func summary(d *rootcause.Diagnosis) string {
	switch {
	case d.Verdict == rootcause.Clean:
		return "nothing wrong in what was recorded"
	case d.Root != nil:
		o := d.Root
		s := fmt.Sprintf("%s is %s at tick %d", o.Field, o.Class, o.Tick)
		if o.Column != "" {
			s += ", " + o.Column
		}
		if o.Env != nil {
			s += fmt.Sprintf(", env %d", *o.Env)
		}
		return cli.OneLine(s)
	}
	return "something is wrong, and the file does not say where"
}

// print writes one line per file.
func (r *checkResult) print(w io.Writer) error {
	for _, f := range r.Files {
		line := fmt.Sprintf("%-5s  %s: ", f.Status, f.File)
		if f.Verdict != "" {
			line += f.Verdict + ": "
		}
		if _, err := fmt.Fprintln(w, cli.OneLine(line+f.Message)); err != nil {
			return err
		}
	}
	if len(r.Files) == 0 {
		_, err := fmt.Fprintln(w, "ok     no dumps found")
		return err
	}
	return nil
}

// err turns the worst status into the error that makes the exit code.
func (r *checkResult) err() error {
	switch r.Worst {
	case statusBad:
		return cli.ErrFound
	case statusError:
		return cli.ErrReported
	}
	return nil
}

// maxLink is more than the name of a dump takes.
const maxLink = 255

// copiedLink reports whether a file is what some copies make of a link: the name
// of a file beside it as text.
func copiedLink(name string) bool {
	info, err := os.Stat(name)
	if err != nil || info.Size() == 0 || info.Size() > maxLink {
		return false
	}
	text, err := os.ReadFile(name)
	target := string(text)
	if err != nil || target != filepath.Base(target) || filepath.Ext(target) != ".npz" {
		return false
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(name), target))
	return err == nil
}

// dumpsBelow returns the file itself, or the .npz files below a folder in
// order of their names. Links to files are left out: the latest dump is there
// under its own name.
func dumpsBelow(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("check %q: %w", path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var names []string
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Type().IsRegular() && filepath.Ext(name) == ".npz" && !copiedLink(name) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return names, fmt.Errorf("check %q: %w", path, err)
	}
	return names, nil
}
