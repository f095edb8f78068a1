package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// viznan runs the command and returns what a shell would see.
func viznan(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestPrintsTheDiagnosisWithoutATerminal(t *testing.T) {
	code, out, errs := viznan("testdata/go1_stiff.npz")
	assert.Equal(t, 3, code)
	assert.Empty(t, errs)
	assert.True(t, strings.HasPrefix(out, "go1_stiff.npz: "), out)
	assert.Contains(t, out, "qacc is NaN, env 19, floating_base_joint.vx, at tick 6 (substep 4)")
	assert.NotContains(t, out, "\x1b")
}

func TestOnce(t *testing.T) {
	code, out, errs := viznan("testdata/go1_stiff.npz", "--once", "--width", "80", "--height", "24")
	assert.Zero(t, code)
	assert.Empty(t, errs)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 24)
	for _, l := range lines {
		assert.Equal(t, 80, ansi.StringWidth(l))
	}
	assert.Contains(t, out, "\x1b[")
	text := ansi.Strip(out)
	for _, want := range []string{"go1_stiff.npz", "19 culprit", "qacc · env 19 · substep 4", "NaN"} {
		assert.Contains(t, text, want)
	}
}

func TestOnceWithoutColour(t *testing.T) {
	_, out, _ := viznan("testdata/go1_stiff.npz", "--once", "--plain")
	assert.NotContains(t, out, "\x1b")
	t.Setenv("NO_COLOR", "1")
	_, again, _ := viznan("testdata/go1_stiff.npz", "--once")
	assert.Equal(t, out, again)
}

func TestThemes(t *testing.T) {
	_, dark, _ := viznan("testdata/luckylab.npz", "--once", "--theme", "dark")
	_, light, _ := viznan("testdata/luckylab.npz", "--once", "--theme", "light")
	_, auto, _ := viznan("testdata/luckylab.npz", "--once")
	assert.NotEqual(t, dark, light)
	assert.Equal(t, dark, auto)
}

func TestStartOptions(t *testing.T) {
	_, out, _ := viznan("testdata/go1_stiff.npz", "--once", "--plain", "--field", "qvel", "--frame", "3")
	assert.Contains(t, out, "qvel · env 19 · substep")
	assert.Contains(t, out, "tick 3 of")
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "accepts 1 arg(s), received 0"},
		{[]string{"a.npz", "b.npz"}, "accepts 1 arg(s), received 2"},
		{[]string{"testdata/luckylab.npz", "--nope"}, "unknown flag: --nope"},
		{[]string{"testdata/luckylab.npz", "--frame", "x"}, "invalid argument"},
		{[]string{"testdata/luckylab.npz", "--once", "--width", "0"}, "--width 0"},
		{[]string{"testdata/luckylab.npz", "--once", "--height", "5000"}, "--height 5000"},
		{[]string{"testdata/luckylab.npz", "--theme", "pink\x1b"}, `--theme "pink\x1b"`},
		{[]string{"testdata/luckylab.npz", "--once", "--field", "qvel"}, "it holds obs, action, reward"},
		{[]string{"testdata/luckylab.npz", "--once", "--env", "7"}, "no env 7; it holds 0"},
		{[]string{"testdata/luckylab.npz", "--field", "nope"}, `no field "nope"; it holds obs, action, reward`}, // in a pipe too
		{[]string{"testdata/luckylab.npz", "--env", "7"}, "no env 7; it holds 0"},
		{[]string{"testdata/luckylab.npz", "--max-bytes", "-1"}, "is not a size"},
	} {
		code, out, errs := viznan(c.args...)
		assert.Equal(t, 2, code, "%q", c.args)
		assert.Empty(t, out, "%q", c.args)
		assert.Contains(t, errs, c.want)
		assert.Contains(t, errs, "viznan: hint: ")
		assert.NotContains(t, errs, "\x1b")
	}
}

func TestFilesThatDoNotOpen(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.npz")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, name := range []string{"testdata/not-there.npz", "testdata", empty, "testdata/README.md", "testdata/pickle_os_system.npz"} {
		for _, mode := range [][]string{nil, {"--once"}} {
			code, out, errs := viznan(append(mode, name)...)
			assert.Equal(t, 1, code, name)
			assert.Empty(t, out, name)
			assert.Equal(t, 1, strings.Count(errs, "\n"), "one line: %q", errs)
			assert.Contains(t, errs, filepath.Base(name))
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	code, out, errs := viznan("testdata/go1_stiff.npz", "--once", "--plain", "--max-bytes", "2K")
	if code == 0 {
		assert.Contains(t, out, "not read")
		return
	}
	assert.Equal(t, 1, code)
	assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
}

func TestEscapeCodesOfAFile(t *testing.T) {
	for _, args := range [][]string{{"--once", "--plain", "--width", "200", "--height", "60"}, nil} {
		_, out, errs := viznan(append(args, "testdata/escape_codes.npz")...)
		for _, r := range out + errs {
			require.True(t, r == '\n' || r >= ' ' && r != 0x7f && r != 0x9b && r != 0x202e, "%q", r)
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	code, out, _ := viznan("--version")
	assert.Zero(t, code)
	assert.Contains(t, out, "viznan")
	code, out, _ = viznan("--help")
	assert.Zero(t, code)
	assert.Contains(t, ansi.Strip(out), "--once")
}

// TestEveryRealDump draws every dump of the collection, malformed ones too:
// a screen, or one line that says why not.
func TestEveryRealDump(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "dumps")
	var files []string
	for _, pattern := range []string{"*/*.npz", "*/*/*.npz", "*/*/*/*.npz"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skip("the collection of real dumps is not beside the repository")
	}
	for _, name := range files {
		if strings.HasSuffix(name, "latest.npz") {
			continue // a link or a copy of another one
		}
		t.Run(strings.TrimPrefix(name, root+"/"), func(t *testing.T) {
			for _, size := range [][2]string{{"80", "24"}, {"200", "60"}} {
				code, out, errs := viznan("--once", "--plain", "--width", size[0], "--height", size[1], name)
				if code == 1 && strings.Contains(name, "/bad/") {
					assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
					continue
				}
				require.Zero(t, code, errs)
				assert.Contains(t, out, "timeline")
			}
		})
	}
}
