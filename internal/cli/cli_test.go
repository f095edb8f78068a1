package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

func TestByteSize(t *testing.T) {
	for in, want := range map[string]int64{
		"1": 1, "512M": 512 << 20, "2G": 2 << 30, "64KiB": 64 << 10, "3mb": 3 << 20, " 7k ": 7 << 10, "1T": 1 << 40,
	} {
		var b ByteSize
		assert.NoError(t, b.Set(in), in)
		assert.EqualValues(t, want, b, in)
	}
	for _, in := range []string{"", "M", "-1", "0", "1.5G", "9223372036854775807K", "1MM", "1X", "GG"} {
		assert.Error(t, new(ByteSize).Set(in), in)
	}
	b := ByteSize(512 << 20)
	assert.Equal(t, "512M", b.String())
	b = 1025
	assert.Equal(t, "1025", b.String())
}

func TestExecuteMapsErrorsToCodes(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{nil, ExitOK, ""},
		{ErrFound, ExitFound, ""},
		{fmt.Errorf("check: %w", ErrReported), ExitFailure, ""},
		{errors.New("open dump \"x\": no"), ExitFailure, "prog: open dump \"x\": no\n"},
		{errors.New("two\nlines\x1b[31m"), ExitFailure, "prog: two; lines\\x1b[31m\n"},
		{fmt.Errorf("run: %w", context.Canceled), ExitInterrupted, "prog: interrupted\n"},
		{Usagef("bad %s", "flag"), ExitUsage, "prog: bad flag\nprog: hint: prog --help tells the commands and flags\n"},
	} {
		root := &cobra.Command{Use: "prog", RunE: func(*cobra.Command, []string) error { return c.err }}
		var out, errs bytes.Buffer
		assert.Equal(t, c.code, Execute(context.Background(), root, nil, nil, &out, &errs), "%v", c.err)
		assert.Equal(t, c.stderr, errs.String())
	}
}

func TestExecuteUsageMistakes(t *testing.T) {
	for _, args := range [][]string{{"sub"}, {"sub", "a", "b"}, {"--no-such"}, {"nope"}, {"sub", "--x"}} {
		root := &cobra.Command{Use: "prog"}
		root.AddCommand(&cobra.Command{
			Use: "sub ARG", Args: Args(cobra.ExactArgs(1)),
			RunE: func(*cobra.Command, []string) error { return nil },
		})
		var out, errs bytes.Buffer
		assert.Equal(t, ExitUsage, Execute(context.Background(), root, args, nil, &out, &errs), "%v: %s", args, errs.String())
	}
}
