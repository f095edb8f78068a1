// Package cli is what the two commands share: exit codes, one-line errors and
// the way from arguments to an exit code. Results go to stdout, lines about
// them to stderr.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/internal/version"
)

// The exit codes of both commands.
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 2
	ExitFound   = 3 // something non-finite or implausible was found

	ExitInterrupted = 130 // by Ctrl-C, as shells have it
)

// ErrFound is returned by a command that has already said what it found; it
// makes the exit code 3 and prints nothing.
var ErrFound = errors.New("non-finite or implausible values found")

// ErrReported is returned by a command that has already said what failed; it
// makes the exit code 1 and prints nothing.
var ErrReported = errors.New("already reported")

// UsageError is a mistake in the arguments.
type UsageError struct{ Err error }

// Error returns the message of the mistake.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError with a formatted message.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Args turns a violation of an argument rule into a UsageError.
func Args(rule cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := rule(c, args); err != nil {
			return &UsageError{err}
		}
		return nil
	}
}

// Execute runs the command with the given arguments and streams and returns
// the exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &UsageError{err} })
	err := fang.Execute(ctx, root,
		fang.WithVersion(version.String()), fang.WithoutManpage(),
		fang.WithErrorHandler(func(_ io.Writer, _ fang.Styles, err error) { printError(stderr, root.Name(), err) }))
	return exitCode(err)
}

// printError writes err as one line, and how to get help after a mistake in
// the arguments.
func printError(w io.Writer, name string, err error) {
	if errors.Is(err, ErrFound) || errors.Is(err, ErrReported) {
		return
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintf(w, "%s: interrupted\n", name)
		return
	}
	fmt.Fprintf(w, "%s: %s\n", name, OneLine(err.Error()))
	if exitCode(err) == ExitUsage {
		fmt.Fprintf(w, "%s: hint: %s --help tells the commands and flags\n", name, name)
	}
}

// exitCode maps an error to the code that a shell sees.
func exitCode(err error) int {
	var usage *UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrFound):
		return ExitFound
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"):
		return ExitUsage
	}
	return ExitFailure
}
