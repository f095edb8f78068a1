package detect

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestRunawayEnvsAreSuspects trips on a field of the whole run while one env has
// run away and is finite: the dump must hold that env.
func TestRunawayEnvsAreSuspects(t *testing.T) {
	g := newGuard(t, testConfig(t, 16))
	qvel := bind(t, g, "qvel", 2, FieldOptions{})
	variance := bind(t, g, "normalizer.var", 1, FieldOptions{Shared: true})
	for step := range 20 {
		for i := range qvel {
			qvel[i] = float32(i%5) + 1
		}
		if step == 19 {
			qvel[2*11+1] = 3e7
			variance[0] = nan
		}
		check(t, g, dump.ClockSubstep, dump.ClockStep)
	}
	m := dumpOf(t, g).Manifest()
	assert.Equal(t, "normalizer.var", m.Trip.Field)
	assert.Equal(t, []int{11, 4, 12}, m.EnvIDs)
	assert.Equal(t, []dump.Role{dump.RoleSuspect, dump.RoleControl, dump.RoleControl}, m.EnvRoles)
}

func TestRanAway(t *testing.T) {
	for _, c := range []struct {
		name string
		past []float64
		want bool
	}{
		{"no past", []float64{1e9}, false},
		{"steady", []float64{5, 6, 5, 7, 5}, false},
		{"a hard landing", []float64{5, 6, 5, 7, 400}, false},
		{"run away", []float64{5, 6, 5, 7, 5e4}, true},
		{"small values do not run", []float64{1e-9, 1e-9, 1e-9, 1}, false},
		{"always large", []float64{2e6, 1e6, 3e6, 2e6}, false},
		{"back again", []float64{5, 6, 5e4, 7, 5}, false},
	} {
		assert.Equal(t, c.want, ranAway(c.past), c.name)
	}
}
