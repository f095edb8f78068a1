//go:build !race

package detect

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// The race detector empties the pool from which calls of C take their frames.

// A check on a GPU allocates nothing.
func TestDeviceCheckDoesNotAllocate(t *testing.T) {
	b := newBench(t, cudatest.Host(t))
	g := b.guard(testConfig(t, 4))
	for _, name := range []string{"qvel", "qpos", "qacc"} {
		b.field(g, name, 3, FieldOptions{Clock: dump.ClockStep})
	}
	bind(t, g, "loss.value", 1, FieldOptions{Shared: true})
	refs := []FieldRef{{0, b.array(4, 3)}, {2, b.array(4, 3)}}
	check(t, g, dump.ClockStep, dump.ClockMinibatch)
	for name, f := range map[string]func(){
		"bound":     func() { g.Check(dump.ClockStep) },
		"given":     func() { g.Check(dump.ClockStep, refs...) },
		"same":      func() { g.CheckSame(dump.ClockStep, refs[0], refs[1]) },
		"staged":    func() { g.Check(dump.ClockMinibatch) },
		"poll":      func() { g.Poll() },
		"no fields": func() { g.Check(dump.ClockUpdate) },
	} {
		assert.Zero(t, testing.AllocsPerRun(50, f), name)
	}
}
