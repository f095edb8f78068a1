package dump

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// A reader that knows the format finds what was written.
func TestOpenReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	d := sampleDraft()
	path, _ := written(t, d)
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, "nanguard-1", f.Format())
	assert.Equal(t, d.Manifest.EnvIDs, f.Manifest().EnvIDs)
	assert.Equal(t, []int64{999_999, 1_000_000}, f.States().Steps)
	s, err := f.Frames("qpos")
	require.NoError(t, err)
	assert.Equal(t, d.Fields[1].Frames.Values, s.Values)
	s, err = f.Frames("policy.std")
	require.NoError(t, err)
	assert.Equal(t, tensor.BFloat16, s.Values.DType)
	assert.Equal(t, []int{2, 1, 2}, s.Values.Shape)
	tr, err := f.Trace("qpos")
	require.NoError(t, err)
	assert.Equal(t, d.Fields[1].Trace, tr)
	want := map[string]any{"note": "µ note", "state_spec": int64(30), "nan_env_ids": []any{int64(2), int64(6)}, "detection_step": int64(1_000_001)}
	for k, v := range want {
		assert.Equal(t, v, f.Metadata().Values[k], k)
	}
	assert.Empty(t, f.Warnings())
}
