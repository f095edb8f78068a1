package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKnownMisses: a known miss is passed over, an unknown one fails, and so
// does a known one that is diagnosed after all.
func TestKnownMisses(t *testing.T) {
	t.Parallel()
	seed := uint64(3)
	known := map[string]string{"a/3": "too short", "b": "no model"}
	for _, c := range []struct {
		name   string
		v      verified
		failed int
		says   string
	}{
		{"right", verified{Name: "c", OK: true}, 0, "1 of 1 are diagnosed as what they are\n"},
		{"known", verified{Name: "a", Seed: &seed, Want: "x", Got: "y", Belief: 0.5, Faults: []string{"cause"}}, 0, "a (seed 3): want x, got y with 50 %; wrong: cause (known: too short)\n0 of 1 "},
		{"cured", verified{Name: "b", OK: true}, 1, "b: is diagnosed: take b off fixtures/score/misses.txt\n1 of 1 "},
		{"new", verified{Name: "c", Want: "x", Got: "y", Belief: 1, Faults: []string{"cause", "env"}}, 1, "c: want x, got y with 100 %; wrong: cause, env\n0 of 1 "},
		{"another seed", verified{Name: "a", Seed: new(uint64), Faults: []string{"env"}}, 1, "a (seed 0): want , got  with 0 %; wrong: env\n0 of 1 "},
	} {
		r := sumUp([]verified{c.v}, known)
		assert.Equal(t, c.failed, r.Failed, c.name)
		var b strings.Builder
		require.NoError(t, r.print(&b))
		assert.True(t, strings.HasPrefix(b.String(), c.says), "%s: %q", c.name, b.String())
	}
}
