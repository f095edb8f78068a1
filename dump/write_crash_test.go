package dump

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// killedDirEnv names the folder that the child of TestKilledWhileWriting fills
// with dumps until it is killed.
const killedDirEnv = "NANGUARD_TEST_KILLED_DIR"

// A process that is killed while it writes leaves whole dumps and links to whole
// dumps, never a torn file under a name of a dump.
func TestKilledWhileWriting(t *testing.T) {
	if dir := os.Getenv(killedDirEnv); dir != "" {
		d := benchDraft(100, 7, 60)
		for start := time.Now(); time.Since(start) < 10*time.Second; { // should the parent die first
			_, err := WriteFile(dir, d)
			require.NoError(t, err)
		}
		return
	}
	t.Parallel()
	whole := 0
	for i := range 8 {
		dir := t.TempDir()
		child := exec.Command(os.Args[0], "-test.run=^TestKilledWhileWriting$")
		child.Env = append(os.Environ(), killedDirEnv+"="+dir)
		require.NoError(t, child.Start())
		time.Sleep(time.Duration(100+7*i) * time.Millisecond)
		require.NoError(t, child.Process.Kill())
		require.Error(t, child.Wait())

		names, err := filepath.Glob(filepath.Join(dir, "nan_dump_*.npz"))
		require.NoError(t, err)
		for _, name := range names {
			raw, err := os.ReadFile(name)
			require.NoError(t, err, "a link to nothing")
			assert.Len(t, readZip(t, raw), 5, name) // and every CRC is right
			whole++
		}
	}
	assert.Positive(t, whole)
}

// More entries than the 16-bit counters of a zip can tell make it a zip64.
func TestMoreEntriesThanAZipCounts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("70,000 entries take a while")
	}
	const steps = 70_000
	d := sampleDraft()
	d.States = &StateDraft{Values: tensor.NewArray(tensor.Float64, steps, 3, 1)}
	for i := range int64(steps) {
		d.States.Steps = append(d.States.Steps, i)
	}
	p, err := newPacker(d, d.manifest(), "")
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.writeTo(&b))
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	assert.Len(t, z.File, steps+14)
}
