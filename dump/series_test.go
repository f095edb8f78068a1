package dump

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A field whose entries disagree is an error of that field; others stay usable.
func TestFieldsThatDisagree(t *testing.T) {
	t.Parallel()
	values := func(shape string, n int) zipEntry { return npyOf("field.y", "<f8", shape, make([]byte, 8*n)) }
	tick, count := npyOf("field.y.tick", "<i8", "(2,)", i64(10, 11)), npyOf("field.y.count", "<i8", "(2,)", i64(1, 2))
	for _, c := range []struct {
		name    string
		perEnv  bool
		entries []zipEntry
		want    string
	}{
		{"rows", true, []zipEntry{values("(2, 3, 2)", 12), tick, count}, "has 3 rows for 2 envs"},
		{"frames", true, []zipEntry{values("(3, 2, 2)", 12), tick, count}, "holds 3 frames and 2 ticks"},
		{"counts", true, []zipEntry{values("(2, 2, 2)", 8), tick, npyOf("field.y.count", "<i8", "(3,)", i64(1, 2, 3))}, "has 2 ticks and 3 counts"},
		{"dimensions", true, []zipEntry{values("(2, 2, 2, 1)", 8), tick, count}, "has shape (2, 2, 2, 1); frames, rows and columns were expected"},
		{"scalar", true, []zipEntry{values("()", 1), tick, count}, "has shape (); frames"},
		{"rows of a shared field", false, []zipEntry{values("(2, 2, 2)", 8), tick, count}, "has 2 rows; a field of the whole run has 1"},
		{"no tick", true, []zipEntry{values("(2, 2, 2)", 8), count}, `its entry "field.y.tick" is missing`},
		{"no count", true, []zipEntry{values("(2, 2, 2)", 8), tick}, `its entry "field.y.count" is missing`},
		{"ticks of floats", true, []zipEntry{values("(2, 2, 2)", 8), npyOf("field.y.tick", "<f8", "(2,)", f64(1, 2)), count}, `its entry "field.y.tick" holds float64 (2,); one dimension of integers was expected`},
		{"ticks in two dimensions", true, []zipEntry{values("(2, 2, 2)", 8), npyOf("field.y.tick", "<i8", "(2, 1)", i64(1, 2)), count}, `its entry "field.y.tick" holds int64 (2, 1)`},
		{"text", true, []zipEntry{npyOf("field.y", "<U1", "(2, 2, 2)", make([]byte, 32)), tick, count}, "holds str (2, 2, 2); numbers were expected"},
		{"objects", true, []zipEntry{npyOf("field.y", "|O", "(2, 2, 2)", []byte("N.")), tick, count}, "holds object (2, 2, 2); numbers were expected"},
		{"columns", true, []zipEntry{values("(2, 2, 1048577)", 4*1048577), tick, count}, "has shape (2, 2, 1048577): more than 1048576 frames, 1048576 rows or 1048576 columns"},
	} {
		y := fmt.Sprintf(`,"fields":[{"name":"x","stage":"obs","clock":"step","dtype":"float64","per_env":true},{"name":"y","stage":"obs","clock":"step","dtype":"float64","per_env":%v}]`, c.perEnv)
		f := mustOpen(t, append(append(fieldX(), c.entries...), manifestOf(manifestWith(y)))...)
		_, err := f.Frames("y")
		require.ErrorContains(t, err, `entry "field.y": `+c.want, c.name)
		assert.Contains(t, warnText(f), `entry "field.y": `+c.want, c.name)
		_, again := f.Frames("y")
		assert.Equal(t, err, again, c.name)
		assert.Nil(t, f.Columns("y"), c.name)
		_, err = f.Frames("x")
		require.NoError(t, err, c.name)
	}
}

// A field with one column may have no axis for it.
func TestFieldsOfOneColumn(t *testing.T) {
	t.Parallel()
	tick, count := npyOf("field.y.tick", "<i4", "(2,)", i64(10<<32 | 5)[:8]), npyOf("field.y.count", "|u1", "(2,)", []byte{1, 200})
	for _, c := range []struct {
		perEnv bool
		shape  string
		n      int
		want   []int
	}{
		{true, "(2, 2)", 4, []int{2, 2, 1}},
		{false, "(2,)", 2, []int{2, 1, 1}},
		{false, "(2, 3)", 6, []int{2, 1, 3}},
		{false, "(2, 1, 3)", 6, []int{2, 1, 3}},
	} {
		y := fmt.Sprintf(`,"fields":[{"name":"y","stage":"obs","clock":"step","dtype":"float64","per_env":%v}]`, c.perEnv)
		f := mustOpen(t, npyOf("field.y", "<f8", c.shape, make([]byte, 8*c.n)), tick, count, manifestOf(manifestWith(y)))
		s, err := f.Frames("y")
		require.NoError(t, err, c.shape)
		assert.Equal(t, c.want, s.Values.Shape)
		assert.Equal(t, []int64{5, 10}, s.Ticks)
		assert.Equal(t, []int64{1, 200}, s.Counts)
		assert.Equal(t, c.perEnv, s.EnvIDs != nil)
	}
}

// A field or trace that is there and empty is as good as none.
func TestEmptyField(t *testing.T) {
	t.Parallel()
	f := mustOpen(t, npyOf("field.x", "<f8", "(0, 2, 2)", nil), npyOf("field.x.tick", "<i8", "(0,)", nil), npyOf("field.x.count", "<i8", "(0,)", nil),
		npyOf("trace.x", "<f8", "(0, 8)", nil), npyOf("trace.x.tick", "<i8", "(0,)", nil), npyOf("trace.x.count", "<i8", "(0,)", nil),
		manifestOf(manifestWith("")))
	_, err := f.Frames("x")
	require.ErrorIs(t, err, ErrNoEntry)
	tr, err := f.Trace("x")
	require.NoError(t, err)
	assert.Empty(t, tr.Ticks)
	assert.Equal(t, []string{"a", "b"}, f.Columns("x"))
	assert.Empty(t, f.Warnings())
}

// Frames that were written out of order are shown in order, whatever the order
// was.
func TestFramesArePutInOrder(t *testing.T) {
	t.Parallel()
	for _, ticks := range [][]int64{{3, 1, 2}, {2, 3, 1}, {3, 2, 1}, {1, 3, 2}, {2, 1, 3}} {
		var v []float64
		var counts []int64
		for _, k := range ticks {
			v = append(v, float64(10*k), float64(10*k+1), float64(10*k+2), float64(10*k+3))
			counts = append(counts, 100+k)
		}
		f := mustOpen(t, npyOf("field.x", "<f8", "(3, 2, 2)", f64(v...)), npyOf("field.x.tick", "<i8", "(3,)", i64(ticks...)),
			npyOf("field.x.count", "<i8", "(3,)", i64(counts...)), manifestOf(manifestWith("")))
		s, err := f.Frames("x")
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 2, 3}, s.Ticks)
		assert.Equal(t, []int64{101, 102, 103}, s.Counts)
		assert.Equal(t, []float64{10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33}, s.Values.AppendFloat64s(nil, 0, 12))
		assert.Equal(t, `entry "field.x": the ticks do not ascend; the frames are put in order`, strings.ReplaceAll(warnText(f), ".tick", ""))
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	row := func(first float64) []byte {
		return f64(first, first+1, first+2, first+3, first+4, first+5, first+6, first+7)
	}
	tick, count := npyOf("trace.x.tick", "<i8", "(2,)", i64(9, 4)), npyOf("trace.x.count", "<i8", "(2,)", i64(2, 1))
	table := npyOf("trace.x", "<f8", "(2, 8)", append(row(10), row(20)...))
	f := mustOpen(t, append(fieldX(), table, tick, count, manifestOf(manifestWith("")))...)
	tr, err := f.Trace("x")
	require.NoError(t, err)
	assert.Equal(t, &Trace{
		Ticks: []int64{4, 9}, Counts: []int64{1, 2}, NaN: []float64{20, 10}, PosInf: []float64{21, 11}, NegInf: []float64{22, 12},
		AbsMax: []float64{23, 13}, ArgMax: []float64{24, 14}, Min: []float64{25, 15}, Max: []float64{26, 16}, Mean: []float64{27, 17},
	}, tr)
	assert.Contains(t, warnText(f), `entry "trace.x.tick": the ticks do not ascend`)
	_, err = f.Trace("y")
	require.ErrorIs(t, err, ErrNoEntry)

	for _, c := range []struct {
		want    string
		entries []zipEntry
	}{
		{"has shape (2, 7); (2, 8) was expected", []zipEntry{npyOf("trace.x", "<f8", "(2, 7)", make([]byte, 112)), tick, count}},
		{"has shape (3, 8); (2, 8) was expected", []zipEntry{npyOf("trace.x", "<f8", "(3, 8)", make([]byte, 192)), tick, count}},
		{`its entry "trace.x.tick" is missing`, []zipEntry{table, count}},
	} {
		f := mustOpen(t, append(append(fieldX(), c.entries...), manifestOf(manifestWith("")))...)
		_, err := f.Trace("x")
		require.ErrorContains(t, err, `entry "trace.x": `+c.want)
		assert.Contains(t, warnText(f), c.want)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	fields := `,"fields":[{"name":"qpos","stage":"physics","clock":"substep","dtype":"float64","cols":["hip"],"per_env":true},
		{"name":"qvel","stage":"physics","clock":"substep","dtype":"float64","per_env":true},{"name":"reward","stage":"reward","clock":"step","dtype":"float64","per_env":true},
		{"name":"traced","stage":"reward","clock":"step","dtype":"float64","per_env":true}]`
	var entries []zipEntry
	for _, name := range []string{"qpos", "qvel", "reward"} {
		entries = append(entries, npyOf("field."+name, "<f8", "(1, 2, 1)", f64(1, 2)),
			npyOf("field."+name+".tick", "<i8", "(1,)", i64(1)), npyOf("field."+name+".count", "<i8", "(1,)", i64(1)))
	}
	f := mustOpen(t, append(entries, manifestOf(manifestWith(fields)), stateEntry(0, 0), metaEntry(2, 3, nil))...)
	assert.Equal(t, []string{"qpos hip", "qvel[0]", "state[2]"}, f.Columns(StateField))
	assert.Equal(t, []string{"hip"}, f.Columns("qpos"))
	assert.Equal(t, []string{"reward"}, f.Columns("reward"))
	assert.Nil(t, f.Columns("traced"))
	assert.Nil(t, f.Columns("nothing"))
	f.Columns(StateField)[0] = "changed"
	assert.Equal(t, "qpos hip", f.Columns(StateField)[0])
}

func TestStateRowsAgainstManifest(t *testing.T) {
	t.Parallel()
	three := npyOf("states_step_000000", "<f8", "(3, 3)", make([]byte, 72))
	f := mustOpen(t, manifestOf(manifestWith("")), three, metaEntry(2, 3, nil))
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, []int{3, 5, -3}, s.EnvIDs)
	assert.Contains(t, warnText(f), "have 3 rows for 2 envs: it is not certain which envs the rows are")
}

// The state size of the metadata counts where any frame has it; else the most
// common one does.
func TestWhichFramesCount(t *testing.T) {
	t.Parallel()
	wide := func(step int) zipEntry {
		return npyOf(fmt.Sprintf("states_step_%06d", step), "<f8", "(2, 4)", make([]byte, 64))
	}
	f := mustOpen(t, wide(0), wide(1), stateEntry(2, 0), metaEntry(2, 3, nil))
	assert.Equal(t, []int64{2}, f.States().Steps)
	f = mustOpen(t, wide(0), wide(1), stateEntry(2, 0), metaEntry(2, 9, nil))
	assert.Equal(t, []int64{0, 1}, f.States().Steps)
	assert.Contains(t, warnText(f), "metadata: state_size is 9, the entries states_step_* have 4 columns")
	one := npyOf("states_step_000000", "<f8", "(3,)", f64(1, 2, 3)) // a row by itself
	f = mustOpen(t, one, metaEntry(1, 3, nil))
	s, err := f.Frames(StateField)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1, 3}, s.Values.Shape)
}

func TestNoUsableFrames(t *testing.T) {
	t.Parallel()
	bad := npyOf("states_step_000007", "<M8[s]", "(2, 3)", make([]byte, 48))
	f := mustOpen(t, bad, metaEntry(2, 3, nil))
	_, err := f.Frames(StateField)
	require.ErrorContains(t, err, `none of 1 entries is usable: entry "states_step_000007": header: dtype "<M8[s]" is not one`)
	assert.Empty(t, f.States().Steps)
	assert.Nil(t, f.Columns(StateField))
	assert.Contains(t, warnText(f), "none of 1 entries is usable")
}

// A File may be used by many goroutines at once.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	f, err := Open("testdata/go1_stiff/nan_dump.npz")
	require.NoError(t, err)
	defer f.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, spec := range f.Manifest().Fields {
				_, err := f.Frames(spec.Name)
				assert.NoError(t, err)
				_, err = f.Trace(spec.Name)
				assert.NoError(t, err)
				f.Columns(spec.Name)
			}
			f.States()
			f.Columns(StateField)
			f.Model()
			f.Warnings()
		})
	}
	wg.Wait()
}
