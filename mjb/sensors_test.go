package mjb

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The sensors of the model that every version wrote, as MuJoCo 3.11 tells them.
func TestSensors(t *testing.T) {
	z, err := zip.OpenReader("testdata/rich.zip")
	require.NoError(t, err)
	defer func() { assert.NoError(t, z.Close()) }()
	n := 0
	for _, e := range z.File {
		if !strings.HasSuffix(e.Name, ".mjb") {
			continue
		}
		r, err := e.Open()
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		m, err := NewReader(bytes.NewReader(b), int64(len(b)), e.Name)
		require.NoError(t, err, e.Name)
		assert.Equal(t, []Sensor{{Type: Gyro, Dim: 3}, {Type: Accelerometer, Adr: 3, Dim: 3}, {Type: 9, Adr: 6, Dim: 1}}, m.Sensors, e.Name)
		n++
	}
	assert.Positive(t, n)
}
