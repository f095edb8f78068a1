package dump

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNumpyReadsADump runs testdata/interop/check_numpy.py on a dump with each
// Python interpreter that NANGUARD_PYTHON lists, separated as in PATH.
func TestNumpyReadsADump(t *testing.T) {
	t.Parallel()
	pythons := filepath.SplitList(os.Getenv("NANGUARD_PYTHON"))
	if len(pythons) == 0 {
		t.Skip("NANGUARD_PYTHON is not set: it lists Python interpreters that have numpy")
	}
	model := filepath.Join(t.TempDir(), "robot.mjb")
	require.NoError(t, os.WriteFile(model, []byte("not looked at"), 0o644))
	d := sampleDraft()
	d.Model = model
	d.Meta.DetectionStep = 1_000_000_000_000
	path, _ := written(t, d)
	for _, python := range pythons {
		out, err := exec.Command(python, "testdata/interop/check_numpy.py", path).CombinedOutput()
		require.NoError(t, err, "%s: %s", python, out)
		t.Logf("%s: %s", python, out)
	}
}
