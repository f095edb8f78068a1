package detect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// dumpFiles returns the dumps in the folder of a guard.
func dumpFiles(t testing.TB, g *Guard) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(g.cfg.Dir, "nan_dump_2*.npz"))
	require.NoError(t, err)
	return names
}

// After the trip the recorder freezes: what comes later is counted and not kept.
func TestRecorderFreezes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		post int
		want []int64 // counts of the frames of qvel
		step bool    // whether the step field after the trip is kept
	}{
		{0, []int64{1, 2}, false},
		{1, []int64{1, 2, 3}, true},
		{3, []int64{1, 2, 3, 4, 5}, true},
	} {
		cfg := testConfig(t, 2)
		cfg.PostFrames = c.post
		g := newGuard(t, cfg)
		qvel := bind(t, g, "qvel", 1, FieldOptions{})
		obs := bind(t, g, "obs.policy", 1, FieldOptions{})
		check(t, g, dump.ClockSubstep)
		qvel[1], obs[1] = nan, nan
		check(t, g, dump.ClockSubstep, dump.ClockStep)
		for range 10 {
			check(t, g, dump.ClockSubstep)
		}
		f := dumpOf(t, g)
		s, err := f.Frames("qvel")
		require.NoError(t, err)
		assert.Equal(t, c.want, s.Counts, "post %d", c.post)
		assert.Equal(t, c.step, len(f.Manifest().FirstBad) == 2, "post %d", c.post)
		assert.Equal(t, int64(2), f.Manifest().Trip.Count)
		g.mu.Lock()
		assert.Equal(t, int64(12), g.now().counts[0])
		g.mu.Unlock()
	}
}

// Envs that go bad while frames after the trip are recorded are listed; the rows
// of the dump stay those that were chosen at the trip.
func TestRowsAreChosenAtTheTrip(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	cfg.PostFrames = 1
	g := newGuard(t, cfg)
	qvel := bind(t, g, "qvel", 1, FieldOptions{})
	qvel[2] = nan
	check(t, g, dump.ClockSubstep)
	qvel[1], qvel[3] = nan, nan
	check(t, g, dump.ClockSubstep)
	f := dumpOf(t, g)
	assert.Equal(t, []int{2, 1, 3}, f.Manifest().EnvIDs)
	assert.Equal(t, []dump.Role{dump.RoleCulprit, dump.RoleControl, dump.RoleControl}, f.Manifest().EnvRoles)
	assert.Equal(t, []any{int64(1), int64(2), int64(3)}, f.Metadata().Values["nan_env_ids"])
}

// Once a dump is written the guard is armed again, as often as it may, and each
// dump tells its own story.
func TestGuardIsArmedAgain(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	cfg.MaxDumps = 2
	g := newGuard(t, cfg)
	qvel := bind(t, g, "qvel", 1, FieldOptions{})
	var trips []dump.Trip
	g.cfg.OnTrip = func(trip dump.Trip) { trips = append(trips, trip) }
	for _, env := range []int{3, 1, 0} {
		check(t, g, dump.ClockSubstep)
		qvel[env] = nan
		check(t, g, dump.ClockSubstep)
		qvel[env] = 0 // it was reset
		g.Wait()
	}
	require.Len(t, trips, 2)
	assert.Equal(t, []int64{2, 4}, []int64{trips[0].Tick, trips[1].Tick})
	files := dumpFiles(t, g)
	require.Len(t, files, 2)
	second := open(t, files[1])
	assert.True(t, strings.HasSuffix(files[1], "_rank0_001.npz"))
	assert.Equal(t, &trips[1], second.Manifest().Trip)
	assert.Equal(t, 1, second.Manifest().EnvIDs[0])
	assert.Equal(t, []any{int64(1)}, second.Metadata().Values["nan_env_ids"])
	s, err := second.Frames("qvel")
	require.NoError(t, err)
	assert.Equal(t, []int64{3, 4}, s.Ticks)
	tr, err := second.Trace("qvel")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4}, tr.Ticks) // traces go on
	v, _ := g.Poll()
	assert.Equal(t, files[1], v.Path)
	assert.Equal(t, 2, v.Number)
}

// The loop died of an exception while every value was finite.
func TestDumpOnException(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 10))
	std := bind(t, g, "policy.std", 1, FieldOptions{})
	std[7] = -0.01
	check(t, g, dump.ClockStep)
	const said = "RuntimeError: normal expects all elements of std >= 0.0"
	const reason = said + "\nTraceback (most recent call last):\n  File \"train.py\", line 3, in step"
	path, err := g.Dump(reason, 7)
	require.NoError(t, err)
	f := open(t, path)
	m := f.Manifest()
	assert.Nil(t, m.Trip)
	assert.Equal(t, reason, m.Run.Exception)
	assert.Equal(t, []dump.Event{{Tick: 1, Kind: dump.EventNote, Count: 1, Detail: said}}, m.Events)
	assert.Equal(t, []int{7, 2, 8}, m.EnvIDs)
	assert.Equal(t, []dump.Role{dump.RoleSuspect, dump.RoleControl, dump.RoleControl}, m.EnvRoles)
	assert.Equal(t, said, f.Metadata().Values["note"])
	_, tripped := g.Poll()
	assert.False(t, tripped)

	again, err := g.Dump("once more")
	require.ErrorIs(t, err, ErrNoDumpsLeft)
	assert.Equal(t, path, again)
}

// A suspect that is no env costs nobody the dump.
func TestSuspectsThatAreNoEnvs(t *testing.T) {
	t.Parallel()
	many := make([]int, 20)
	for i := range many {
		many[i] = 100 + i
	}
	for _, c := range []struct {
		suspects []int
		first    int // row of the dump
		role     dump.Role
		warning  string
	}{
		{[]int{4, 2, -1}, 2, dump.RoleSuspect, "left out of the suspects, as the envs are 0 to 3: 4, -1"},
		{[]int{9}, 0, dump.RoleControl, "left out of the suspects, as the envs are 0 to 3: 9"},
		{many, 0, dump.RoleControl, "left out of the suspects, as the envs are 0 to 3: 100, 101, 102, 103, 104, 105, 106, 107, 12 more"},
	} {
		cfg := testConfig(t, 4)
		cfg.MaxDumps = 2
		g := newGuard(t, cfg)
		bind(t, g, "value", 1, FieldOptions{})
		check(t, g, dump.ClockStep)
		path, err := g.Dump("odd", c.suspects...)
		require.NoError(t, err)
		m := open(t, path).Manifest()
		assert.Equal(t, c.first, m.EnvIDs[0])
		assert.Equal(t, c.role, m.EnvRoles[0])
		require.Len(t, m.Events, 2)
		assert.Equal(t, dump.EventWarning, m.Events[0].Kind)
		assert.Equal(t, c.warning, m.Events[0].Detail)

		check(t, g, dump.ClockStep)
		path, err = g.Dump("odd once more")
		require.NoError(t, err)
		assert.Len(t, open(t, path).Manifest().Events, 1, "the warning is of the one dump")
	}
}

func TestDumpOfAnUneventfulRun(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 70)
	cfg.MaxDumps = 2
	g := newGuard(t, cfg)
	bind(t, g, "value", 1, FieldOptions{})
	check(t, g, dump.ClockStep)
	path, err := g.Dump("end of run")
	require.NoError(t, err)
	m := open(t, path).Manifest()
	assert.Equal(t, []int{5, 15, 25, 35, 45, 55, 65}, m.EnvIDs)
	assert.Empty(t, m.Run.Exception)
	assert.Equal(t, dump.RoleControl, m.EnvRoles[0])

	check(t, g, dump.ClockStep) // the recorder goes on, with all its frames
	path, err = g.Dump("later")
	require.NoError(t, err)
	s, err := open(t, path).Frames("value")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2}, s.Ticks)
}

// A trip after the last dump is known and not written.
func TestTripWithoutDumpsLeft(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 2))
	v := bind(t, g, "value", 1, FieldOptions{})
	check(t, g, dump.ClockStep)
	_, err := g.Dump("asked")
	require.NoError(t, err)
	v[0] = nan
	check(t, g, dump.ClockStep)
	got, tripped := g.Wait()
	require.True(t, tripped)
	assert.True(t, got.Done)
	require.ErrorIs(t, got.Error, ErrNoDumpsLeft)
	assert.Empty(t, got.Path)
	require.NoError(t, g.Close())
	got, _ = g.Poll()
	assert.Empty(t, got.Path)
}

// A dump that cannot be written is an error of the verdict, not of the loop; its
// evidence is kept for another try.
func TestDumpThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	require.NoError(t, os.WriteFile(cfg.Dir, nil, 0o644)) // a file where the folder should be
	g := newGuard(t, cfg)
	qvel := bind(t, g, "qvel", 1, FieldOptions{})
	qvel[2] = nan
	check(t, g, dump.ClockSubstep)
	v, _ := g.Wait()
	assert.True(t, v.Done)
	assert.Empty(t, v.Path)
	require.ErrorIs(t, v.Error, syscall.ENOTDIR)
	require.ErrorContains(t, v.Error, cfg.Dir)
	check(t, g, dump.ClockSubstep) // and the loop goes on

	require.NoError(t, os.Remove(cfg.Dir))
	path, err := g.Dump("try again")
	require.NoError(t, err)
	assert.Equal(t, int64(1), open(t, path).Manifest().Trip.Tick)
	v, _ = g.Poll()
	assert.Equal(t, Verdict{Trip: v.Trip, Number: 1, Path: path, Done: true}, v)
}

// A folder that was removed between two dumps is made again.
func TestDumpFolderRemoved(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	cfg.MaxDumps = 2
	g := newGuard(t, cfg)
	bind(t, g, "value", 1, FieldOptions{})
	check(t, g, dump.ClockStep)
	for range 2 {
		path, err := g.Dump("asked")
		require.NoError(t, err)
		require.FileExists(t, path)
		require.NoError(t, os.RemoveAll(cfg.Dir))
	}
}

// A model that is missing costs a warning, never the dump.
func TestModelMissing(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 4)
	cfg.Model = "/nonexistent/robot.mjb"
	g := newGuard(t, cfg)
	v := bind(t, g, "value", 1, FieldOptions{})
	v[0] = nan
	check(t, g, dump.ClockStep)
	got, _ := g.Wait()
	require.FileExists(t, got.Path)
	require.ErrorContains(t, got.Error, "robot.mjb")
	assert.True(t, got.Done)
}

func TestOnTrip(t *testing.T) {
	t.Parallel()
	g := newGuard(t, testConfig(t, 2))
	v := bind(t, g, "value", 1, FieldOptions{})
	calls := 0
	g.cfg.OnTrip = func(trip dump.Trip) {
		calls++
		assert.Equal(t, "value", trip.Field)
		assert.Empty(t, dumpFiles(t, g))
		panic("as a loop that wants to stop would")
	}
	v[0] = nan
	assert.PanicsWithValue(t, "as a loop that wants to stop would", func() { g.Check(dump.ClockStep) })
	check(t, g, dump.ClockStep)
	assert.Equal(t, 1, calls)
	dumpOf(t, g) // and yet the dump was written
}

func TestCloseWritesWhatIsPending(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 2)
	cfg.PostFrames = 100
	g := newGuard(t, cfg)
	v := bind(t, g, "value", 1, FieldOptions{})
	v[0] = nan
	check(t, g, dump.ClockStep, dump.ClockStep)
	require.Empty(t, dumpFiles(t, g))
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	s, err := dumpOf(t, g).Frames("value")
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2}, s.Ticks)

	require.ErrorIs(t, g.Check(dump.ClockStep), ErrClosed)
	_, err = g.Dump("too late")
	require.ErrorIs(t, err, ErrClosed)
	g.Note(dump.Event{Kind: dump.EventNote})
	require.NoError(t, g.Fact("x", 1))
}

func TestCloseReportsAFailedDump(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 2)
	cfg.PostFrames = 100
	require.NoError(t, os.WriteFile(cfg.Dir, nil, 0o644))
	g := newGuard(t, cfg)
	v := bind(t, g, "value", 1, FieldOptions{})
	v[0] = nan
	check(t, g, dump.ClockStep)
	require.ErrorIs(t, g.Close(), syscall.ENOTDIR)
	require.NoError(t, g.Close())
}

// Poll, Wait, Dump, Plan and Close may come from any goroutine while the loop
// checks; run with -race.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t, 16)
	cfg.MaxDumps = 3
	g := newGuard(t, cfg)
	v := bind(t, g, "value", 4, FieldOptions{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 200 {
				g.Poll()
				g.Plan()
			}
			g.Wait()
			if _, err := g.Dump("asked by another"); err != nil {
				known := errors.Is(err, ErrNoDumpsLeft) || errors.Is(err, ErrNothingNew) || errors.Is(err, ErrClosed)
				assert.True(t, known, "%v", err)
			}
		})
	}
	for i := 0; i < 300 || len(dumpFiles(t, g)) < 3; i++ { // a dump under way stops no check
		v[i%64] = nan
		check(t, g, dump.ClockStep)
		v[i%64] = 0
		g.Note(dump.Event{Kind: dump.EventReset, Envs: []int{i % 16}})
	}
	wg.Wait()
	require.NoError(t, g.Close())
	assert.Len(t, dumpFiles(t, g), 3)
}

// Memory that its owner gave back must not take the loop down.
func TestMemoryThatIsGone(t *testing.T) {
	t.Parallel()
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer unix.Munmap(page)
	g := newGuard(t, testConfig(t, 1024))
	ref := tensor.Ref{Base: unsafe.Pointer(&page[0]), DType: tensor.Float32, Rows: 1024, Cols: 1, RowStride: 4, ColStride: 4}
	_, err = g.Bind("value", ref, FieldOptions{})
	require.NoError(t, err)
	check(t, g, dump.ClockStep)
	require.NoError(t, unix.Mprotect(page, unix.PROT_NONE))
	err = g.Check(dump.ClockStep)
	require.ErrorContains(t, err, "check: the guard is off since tick 2: ")
	require.Equal(t, err, g.Check(dump.ClockStep))

	path, err := g.Dump("what is left")
	require.NoError(t, err)
	f := open(t, path)
	s, err := f.Frames("value")
	require.NoError(t, err)
	assert.Equal(t, []int64{1}, s.Ticks)
	assert.Equal(t, dump.EventWarning, f.Manifest().Events[0].Kind)
}
