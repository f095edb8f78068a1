package dump

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTripString(t *testing.T) {
	env := 29
	trip := Trip{Tick: 44, Clock: ClockSubstep, Count: 30, Field: "qvel", Env: &env, Col: 3, Class: "nan"}
	assert.Equal(t, "qvel, env 29, column 3: nan at tick 44 (substep 30)", trip.String())
	trip.Field, trip.Env = "loss.value", nil
	assert.Equal(t, "loss.value, column 3: nan at tick 44 (substep 30)", trip.String())
}
