//go:build !race

package cuda_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/internal/cuda/cudatest"
)

// The race detector empties the pool from which calls of C take their frames.

// Prepared calls allocate nothing.
func TestOrderDoesNotAllocate(t *testing.T) {
	cudatest.Each(t, func(t *testing.T, d *cuda.Driver) {
		c := primary(t, d)
		e, o := event(t, c, false), c.NewOrder()
		for _, s := range []cuda.Stream{0, 1, stream(t, c)} {
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				if o.Record(e, s) != nil || o.Wait(s, e) != nil {
					t.Fail()
				}
				if _, err := o.Capturing(s); err != nil {
					t.Fail()
				}
			}))
		}
	})
}
