//go:build !race

package detect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// The race detector empties the pool from which calls of C take their frames.

// A check on a GPU allocates nothing, on no stream, and neither does one that
// becomes part of a graph.
func TestDeviceCheckDoesNotAllocate(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := b.guard(testConfig(t, 4))
	for _, name := range []string{"qvel", "qpos", "qacc"} {
		b.field(g, name, 3, FieldOptions{Clock: dump.ClockStep})
	}
	bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	refs := []FieldRef{{0, b.array(4, 3)}, {2, b.array(4, 3)}}
	other, err := b.ctx.NewStream()
	require.NoError(t, err)
	streams := []uintptr{0, uintptr(b.stream), uintptr(other)}
	check(t, g, dump.ClockStep, dump.ClockMinibatch)
	none := func(name string, f func()) {
		t.Helper()
		f()
		assert.Zero(t, allocations(20, f), name)
	}
	for _, s := range streams {
		none("bound", func() { g.CheckOn(s, dump.ClockStep) })
		none("given", func() { g.CheckOn(s, dump.ClockStep, refs...) })
		none("same", func() { g.CheckSameOn(s, dump.ClockStep, refs[0], refs[1]) })
		none("staged", func() { g.CheckOn(s, dump.ClockMinibatch) })
		none("no fields", func() { g.CheckOn(s, dump.ClockUpdate) })
	}
	i := 0
	none("streams in turns", func() { g.CheckOn(streams[i%3], dump.ClockStep); i++ })
	none("poll", func() { g.Poll() })
	b.captured(func() error {
		none("captured", func() { g.CheckOn(streams[1], dump.ClockStep) })
		none("captured, given", func() { g.CheckOn(streams[1], dump.ClockStep, refs...) })
		return nil
	})
}
