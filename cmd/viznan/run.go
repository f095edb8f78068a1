package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/cmd/viznan/internal/ui"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/forensics"
	"github.com/nanguard/nanguard/internal/safetext"
	"github.com/nanguard/nanguard/rootcause"
)

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Execute(ctx, newCommand(), args, stdin, stdout, stderr)
}

// flags is what the command line can say.
type flags struct {
	frame         int64
	env           int
	field         string
	plain, once   bool
	theme         string
	width, height int
	maxBytes      cli.ByteSize
}

// newCommand returns the command line.
func newCommand() *cobra.Command {
	o := flags{maxBytes: dump.DefaultMaxBytes}
	c := &cobra.Command{
		Use:   "viznan DUMP",
		Short: "Replay a dump of a training run in the terminal",
		Long: "Replay a dump of a training run in the terminal, from its first bad frame.\n" +
			"Where the output is no terminal, print the diagnosis; exit with 3 when it found something.",
		Example: "viznan nan_dumps/nan_dump_latest.npz\nviznan dump.npz --field qvel --env 14 --frame 40\nviznan dump.npz | less",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return show(c, args[0], &o) },
	}
	f := c.Flags()
	f.Int64Var(&o.frame, "frame", 0, "open at the frames of this tick (the step, in dumps without ticks)")
	f.IntVar(&o.env, "env", 0, "open at this env")
	f.StringVar(&o.field, "field", "", "open at this field")
	f.BoolVar(&o.plain, "plain", false, "use neither colour nor other escape codes for text")
	f.StringVar(&o.theme, "theme", "auto", "colours for a `dark` or light background; auto asks the terminal")
	f.BoolVar(&o.once, "once", false, "draw one screen to the output and exit")
	f.IntVar(&o.width, "width", 120, "columns of the screen that --once draws")
	f.IntVar(&o.height, "height", 40, "rows of the screen that --once draws")
	f.Var(&o.maxBytes, "max-bytes", "most memory that a dump may take, such as 512M or 2G")
	return c
}

// show opens the dump and shows it in the way that the output can take.
func show(c *cobra.Command, name string, o *flags) error {
	if err := o.check(); err != nil {
		return err
	}
	f, err := forensics.Open(name, o.maxBytes)
	if err != nil {
		return err
	}
	defer f.Close()
	rec := recording.Open(f)
	opts, err := o.options(c, rec)
	if err != nil {
		return err
	}
	stdout := c.OutOrStdout()
	if !o.once && !interactive(stdout) {
		return printDiagnosis(stdout, f)
	}
	opts.Diagnose = func() (*rootcause.Diagnosis, error) { return forensics.Diagnose(f) }
	m := ui.New(rec, opts)
	if o.once {
		return once(stdout, m, o)
	}
	return replay(c.Context(), m, c.InOrStdin(), stdout)
}

// check refuses what no screen can be.
func (o *flags) check() error {
	if o.width < 1 || o.height < 1 || o.width > 1000 || o.height > 1000 {
		return cli.Usagef("--width %d and --height %d must be from 1 to 1000", o.width, o.height)
	}
	switch o.theme {
	case "auto", "dark", "light":
		return nil
	}
	return cli.Usagef(`--theme "%s" is not auto, dark or light`, safetext.Clip(o.theme, 20))
}

// interactive reports whether w is a terminal that can move its cursor.
func interactive(w io.Writer) bool {
	return cli.IsTerminal(w) && os.Getenv("TERM") != "dumb"
}

// options returns how the viewer starts: where the flags say, which must be in
// the dump, whether a screen or the diagnosis is to come.
func (o *flags) options(c *cobra.Command, rec *recording.Recording) (ui.Options, error) {
	opts := ui.Options{Theme: o.colours()}
	opts.FollowTerminal = o.theme == "auto" && opts.Theme != ui.Plain
	set := c.Flags().Changed
	if set("field") {
		i := rec.Field(o.field)
		if i < 0 {
			return opts, cli.Usagef(`the dump holds no field "%s"; it holds %s`, safetext.Clip(o.field, 40), fieldNames(rec))
		}
		opts.Field = &i
	}
	if set("env") {
		i := rec.Env(o.env)
		if i < 0 {
			return opts, cli.Usagef("the dump holds no env %d; it holds %s", o.env, envNumbers(rec))
		}
		opts.Env = &i
	}
	if set("frame") {
		opts.Tick = &o.frame
	}
	return opts, nil
}

// colours returns the theme that the flags and NO_COLOR ask for. In a terminal
// bubbletea itself leaves the colours out; here it is for --once.
func (o *flags) colours() ui.Theme {
	switch {
	case o.plain, o.once && os.Getenv("NO_COLOR") != "":
		return ui.Plain
	case o.theme == "light":
		return ui.Light
	}
	return ui.Dark
}

// most bounds how many names an error lists.
const most = 40

func fieldNames(r *recording.Recording) string {
	var names []string
	for _, f := range r.Fields[:min(len(r.Fields), most)] {
		names = append(names, f.Name)
	}
	return list(names, len(r.Fields))
}

func envNumbers(r *recording.Recording) string {
	var names []string
	for _, e := range r.Envs[:min(len(r.Envs), most)] {
		names = append(names, fmt.Sprint(e.ID))
	}
	return list(names, len(r.Envs))
}

// list joins names and says how many are left out.
func list(names []string, total int) string {
	switch {
	case total == 0:
		return "none"
	case total > len(names):
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), total-len(names))
	}
	return strings.Join(names, ", ")
}
