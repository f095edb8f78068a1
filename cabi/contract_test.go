//go:build cgo && linux

package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
)

// TestContractFromC builds the library as users do, compiles a C program
// against it with every warning an error, and looks at the dumps that it left.
func TestContractFromC(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc on the PATH: the contract tests are C")
	}
	lib, dumps := t.TempDir(), t.TempDir()
	command(t, "go", "build", "-buildmode=c-shared", "-o", filepath.Join(lib, "libnanguard.so"), ".")
	program := filepath.Join(lib, "contract")
	sources, err := filepath.Glob("testdata/contract/*.c")
	require.NoError(t, err)
	flags := []string{"-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I.", "-o", program}
	command(t, gcc, slices.Concat(flags, sources, []string{"-L" + lib, "-lnanguard", "-lpthread", "-Wl,-rpath," + lib})...)
	checks := "300000"
	if os.Getenv("NANGUARD_LONG") != "" {
		checks = "10000000"
	}
	t.Log(command(t, program, dumps, checks))

	t.Run("trip", func(t *testing.T) { lookAtTrip(t, filepath.Join(dumps, "trip")) })
	t.Run("asked", func(t *testing.T) { lookAtAsked(t, filepath.Join(dumps, "asked")) })
}

// TestHeaderIsAlsoCPlusPlus compiles the header alone.
func TestHeaderIsAlsoCPlusPlus(t *testing.T) {
	gxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("no g++ on the PATH")
	}
	command(t, gxx, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", "nanguard.h")
}

// command runs a program and returns what it said.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v:\n%s", name, args, out)
	return string(out)
}

// openLatest opens the dump that a folder's link names.
func openLatest(t *testing.T, dir string) *dump.Manifest {
	t.Helper()
	f, err := dump.Open(filepath.Join(dir, "nan_dump_latest.npz"))
	require.NoError(t, err)
	defer f.Close()
	assert.Empty(t, f.Warnings())
	return f.Manifest()
}

func lookAtTrip(t *testing.T, dir string) {
	m := openLatest(t, dir)
	env := 3
	assert.Equal(t, &dump.Trip{Tick: 7, Clock: dump.ClockStep, Count: 6, Field: "qvel", Env: &env, Col: 1, Class: "neginf"}, m.Trip)
	assert.Equal(t, []int{3, 5}, m.EnvIDs[:2], "culprits in the order of fields, then of envs")
	assert.Equal(t, []string{"./contract"}, m.Run.Command)
	require.NotNil(t, m.Run.Seed)
	assert.EqualValues(t, 7, *m.Run.Seed)
	require.Len(t, m.Fields, 2)
	assert.Equal(t, []string{"hip", "knee", "ankle"}, m.Fields[0].Cols)
	assert.Equal(t, "rad/s", m.Fields[0].Unit)
	require.Len(t, m.Events, 1)
	assert.Equal(t, dump.Event{Kind: "dr", Name: "friction", Envs: []int{3, 5}, Count: 2, Detail: map[string]any{"low": 0.3}}, m.Events[0])
	for name, want := range map[string]any{
		"sim.timestep": 0.005, "policy.std_param": "scalar", "amp.enabled": false, "normalizer.count": 4096.0,
	} {
		assert.Equal(t, want, m.Facts[name], name)
	}
	assert.True(t, math.IsNaN(m.Facts["lr.last"].(float64)))
}

func lookAtAsked(t *testing.T, dir string) {
	m := openLatest(t, dir)
	assert.Nil(t, m.Trip)
	assert.Equal(t, []int{6, 2}, m.EnvIDs[:2])
	assert.Equal(t, []dump.Role{dump.RoleSuspect, dump.RoleSuspect}, m.EnvRoles[:2])
	require.Len(t, m.Events, 2)
	assert.Equal(t, "left out of the suspects, as the envs are 0 to 7: 8", m.Events[0].Detail)
	assert.Equal(t, "the gait looks odd", m.Events[1].Detail)
}
