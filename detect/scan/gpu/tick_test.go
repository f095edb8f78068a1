package gpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// What is asked for is told later, in the order in which it was asked, and again
// and again around the end of the memory.
func TestAskTick(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		g := newRig(t, d, threeFields())
		fine := g.put(repeat(envs*4, 1, nil), 0)
		require.Zero(t, g.KnownTick())
		for round := range 3 {
			var asked []*Later
			for range maxAsked - 10 {
				g.check(0, fine)
				g.sync()
				l := g.AskTick()
				require.NotNil(t, l)
				asked = append(asked, l)
			}
			g.sync()
			for i, l := range asked {
				tick, ok := l.Tick()
				require.True(t, ok)
				require.EqualValues(t, round*len(asked)+i+1, tick)
			}
			require.EqualValues(t, (round+1)*len(asked), g.KnownTick())
		}
	})
}

// A device that does not answer is not waited for, however often it is asked, and
// the answers that it owes come in order once it does.
func TestADeviceThatOwesAnswers(t *testing.T) {
	d, lib := faulty(t)
	g := newRig(t, d, threeFields())
	fine := g.put(repeat(envs*4, 1, nil), 0)
	g.check(0, fine)
	require.EqualValues(t, 1, g.tick())
	lib.Fail["cuMemcpyDtoHAsync_v2"] = cuda.Success // what is enqueued stays in the stream
	lib.Calls = map[string]int{}
	var owed []*Later
	for range maxAsked {
		owed = append(owed, g.AskTick())
	}
	assert.Nil(t, g.AskTick(), "there is no room")
	for _, l := range owed {
		_, ok := l.Tick()
		require.False(t, ok)
	}
	for _, call := range []string{"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"} {
		assert.Zero(t, lib.Calls[call], call)
	}
	assert.EqualValues(t, 1, g.KnownTick())
	a := &g.answers
	a.slots[a.first] = 7 // the device has come to the first
	tick, ok := owed[0].Tick()
	assert.True(t, ok)
	assert.EqualValues(t, 7, tick)
	_, ok = owed[1].Tick()
	assert.False(t, ok)
	assert.NotNil(t, g.AskTick(), "there is room again")
}
