package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"nanguard": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script: each script is a story of one command, with
// the real dumps of package dump as its input.
func TestScripts(t *testing.T) {
	dumps, err := filepath.Abs("../../dump/testdata")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Condition: func(name string) (bool, error) {
			if name != "fakecuda" {
				return false, errors.New("unknown condition " + name)
			}
			_, err := cudatest.HostPath()
			return err == nil, nil
		},
		Setup: func(e *testscript.Env) error {
			if path, err := cudatest.HostPath(); err == nil { // a machine without a compiler has none
				e.Setenv("FAKECUDA", path)
			}
			e.Setenv("DUMPS", dumps)
			e.Setenv("BAD", filepath.Join(dumps, "bad"))
			e.Setenv("V4", filepath.Join(dumps, "mjlab_v4", "nan_dump_20261201_034427.npz"))
			e.Setenv("STIFF", filepath.Join(dumps, "go1_stiff", "nan_dump.npz"))
			e.Setenv("LUCKY", filepath.Join(dumps, "luckylab", "nan_dump_20261201_034437.npz"))
			return nil
		},
	})
}

// exits runs a command and wants a certain exit code: exits 3 nanguard check x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	code := 0
	var failed *exec.ExitError
	err := ts.Exec(args[1], args[2:]...)
	switch {
	case errors.As(err, &failed):
		code = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
