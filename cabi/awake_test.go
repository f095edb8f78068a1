//go:build cgo

package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On Linux the runtime is kept awake as long as a guard is open; elsewhere nobody
// does that, and the table does not claim it.
func TestAwakeWhileAGuardIsOpen(t *testing.T) {
	asleep := func() bool {
		handles.RLock()
		defer handles.RUnlock()
		return !handles.awake
	}
	require.Eventually(t, asleep, 10*time.Second, time.Millisecond)
	for range 3 {
		a, b := add(&handle{}), add(&handle{})
		assert.Equal(t, runtime.GOOS != "linux", asleep())
		for _, n := range []uint64{a, b} {
			_, err := remove(n)
			require.NoError(t, err)
		}
		require.Eventually(t, asleep, 10*time.Second, time.Millisecond)
	}
}
