package dump

import (
	"archive/zip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the metadata says of envs may be of any type.
func TestMetadataOfOtherTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		ids     any
		want    []int
		warning string
	}{
		{"a number", 5, []int{5}, ""},
		{"text", "3, 5", []int{}, "metadata: dumped_env_ids is no list of env ids"},
		{"texts", []string{"3", "5"}, []int{}, "metadata: dumped_env_ids holds values that are no env ids; they are left out"},
		{"below zero", []int{3, -5}, []int{3}, "metadata: dumped_env_ids holds values that are no env ids; they are left out"},
		{"nothing", []int{}, []int{}, ""},
	} {
		var meta zipEntry
		if list, ok := c.ids.([]string); ok {
			meta = npyOf("_metadata", "|O", "()", []byte("(dS'dumped_env_ids'\n(lS'"+list[0]+"'\naS'"+list[1]+"'\nas."))
		} else {
			meta = metaEntry(2, 3, map[string]any{"dumped_env_ids": c.ids, "num_envs_dumped": nil, "nan_env_ids": nil})
		}
		f := mustOpen(t, meta)
		assert.Equal(t, c.want, f.Manifest().EnvIDs, c.name)
		if c.warning != "" {
			assert.Contains(t, warnText(f), c.warning, c.name)
		} else {
			assert.Equal(t, "the file holds no simulator states: no entry states_step_*", warnText(f), c.name)
		}
	}
}

func TestRowsWithoutAList(t *testing.T) {
	t.Parallel()
	f := mustOpen(t, stateEntry(0, 0), metaEntry(2, 3, map[string]any{"dumped_env_ids": nil, "num_envs_dumped": nil, "nan_env_ids": nil}))
	assert.Equal(t, []int{0, 1}, f.Manifest().EnvIDs)
	assert.Equal(t, []Role{RoleSuspect, RoleSuspect}, f.Manifest().EnvRoles)
	assert.Equal(t, "the metadata does not list the envs: the rows are numbered from 0", warnText(f))
}

// Metadata that is damaged, or no pickle, leaves the states; a pickle that is
// not data does not.
func TestDamagedMetadata(t *testing.T) {
	t.Parallel()
	damaged := metaEntry(2, 3, nil)
	damaged.tamper = func(h *zip.FileHeader) { h.CRC32++ }
	for _, c := range []struct {
		name, want string
		meta       zipEntry
	}{
		{"checksum", `entry "_metadata": is damaged: its checksum does not match; the dump is read without it`, damaged},
		{"numbers", `entry "_metadata": holds float64 (1,); one pickled dict (object ()) was expected`, npyOf("_metadata", "<f8", "(1,)", f64(1))},
		{"two objects", `entry "_metadata": holds object (2,); one pickled dict (object ()) was expected`, npyOf("_metadata", "|O", "(2,)", []byte("}."))},
		{"long", `entry "_metadata": pickle of 8.6 MiB over limit 8.5 MiB; --max-bytes raises it`, npyOf("_metadata", "|O", "()", make([]byte, 9_000_000))},
	} {
		f := mustOpen(t, stateEntry(0, 0), stateEntry(1, 0), c.meta)
		assert.Contains(t, warnText(f), c.want, c.name)
		assert.Equal(t, []int64{0, 1}, f.States().Steps, c.name)
	}
}
