package rootcause

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/dump"
)

// TestClean: a healthy run, and healthy runs that look wild, get no cause.
func TestClean(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *loopRun
	}{
		{"healthy", newRun(60)},
		{"hard landings", newRun(60).set("qvel", 100, 0, -1, 95, 70, 30).set("qacc", 100, 0, -1, 4e5, 2e5).set("sensordata", 100, 0, 0, 8e4)},
		{"fast motion", newRun(60).all("qvel", 30, 180)},
		{"a fast rotor from the start", newRun(60).all("qvel", 0, 2500)},
		{"large rewards", newRun(60).all("reward.reach", 20, 3e6).all("reward", 20, 3e6)},
		{"one huge reward", newRun(60).set("reward", 30, 0, 0, 5e9)},
		{"huge observations by nature", newRun(60).all("obs.policy", 0, 3e12)},
		{"a constant observation", newRun(60).all("obs.policy", 0, 1).all("normalizer.var", 0, 0)},
		{"zeros everywhere", newRun(60).all("obs.policy", 0, 0).all("policy.std", 0, 0).all("qvel", 0, 0)},
		{"a clipped z", newRun(60).all("obs.policy.normalized", 20, 10)},
		{"a small std", newRun(60).all("policy.std", 10, 0.02).all("param.std", 0, 0.02)},
		{"resets", resetting(newRun(60))},
		{"losses that grow", newRun(60).all("loss.total", 2, 4e4).all("grad_norm", 2, 900)},
		{"the solver at its limit", newRun(60).all("solver_niter", 0, 10)},
		{"a note", newRun(60).event(dump.Event{Tick: 300, Kind: dump.EventNote, Detail: "asked for by the user after 300 steps"})},
		{"randomisation", newRun(60).event(dump.Event{Tick: 5, Kind: dump.EventDR, Name: "body_mass", Envs: []int{7}, Count: 48})},
		{"negative log std", logStdRun()},
	} {
		_, d := c.run.judge()
		assert.Equal(t, Clean, d.Verdict, c.name)
		assert.Empty(t, d.Causes, c.name)
		assert.NotNil(t, d.Causes, "%s: [] in JSON, not null", c.name)
		assert.Nil(t, d.Root, c.name)
		for _, k := range d.Checklist {
			assert.NotEqual(t, Implicated, k.Status, "%s: row %d %s", c.name, k.Row, k.Evidence)
			assert.NotRegexp(t, "began|blame|until then|went bad", k.Evidence, c.name)
		}
	}
}

// TestNoCulpritInACleanRun: an env that the file calls a suspect is none where
// nothing is wrong.
func TestNoCulpritInACleanRun(t *testing.T) {
	r := newRun(60)
	r.man.EnvRoles = []dump.Role{dump.RoleSuspect, dump.RoleControl}
	c, d := r.judge()
	assert.Equal(t, Clean, d.Verdict)
	_, ok := c.focus()
	assert.False(t, ok)
	assert.Equal(t, Cleared, d.Checklist[1].Status)
	assert.Contains(t, d.Checklist[1].Evidence, "in every env of the file")
	assert.Contains(t, d.Checklist[5].Evidence, "in 0 of 1200 substeps of all envs")
}

// resetting adds resets with the jumps in pose that they make.
func resetting(r *loopRun) *loopRun {
	f := r.fields["qpos"]
	for i := 40; i < len(f.v); i += 40 {
		row := i / 40 % len(r.man.EnvIDs)
		for k := i; k < len(f.v); k++ {
			for col := range f.v[k][row] {
				f.v[k][row][col] += 3
			}
		}
		r.event(dump.Event{Tick: f.ticks[i] - 1, Kind: dump.EventReset, Envs: []int{r.man.EnvIDs[row]}, Count: 1})
	}
	return r
}

// logStdRun learns a log std, which is negative in any healthy run.
func logStdRun() *loopRun {
	r := newRun(60).all("param.std", 0, -2.5)
	r.man.Facts["policy.std_param"] = "log"
	return r
}

// TestNothingRecordedIsNotClean: an empty file does not say that all is well.
func TestNothingRecordedIsNotClean(t *testing.T) {
	_, d := newRun(10).only().judge()
	assert.Equal(t, UnknownCause, d.Verdict)
	assert.LessOrEqual(t, d.Coverage, 0.1)
}

// TestExceptionsOfOtherThings: what ends a run and is about no number leaves it
// clean, with a doubt that says so.
func TestExceptionsOfOtherThings(t *testing.T) {
	for _, said := range []string{
		"KeyError: 'scale'", "TypeError: float() argument must be a string or a real number", "ValueError: num_envs must be positive",
		"RuntimeError: Expected all tensors to be on the same device", "AssertionError: devices differ", "RuntimeError: the simulation app was closed",
	} {
		r := newRun(40)
		r.man.Run.Exception = said
		_, d := r.judge()
		assert.Equal(t, Clean, d.Verdict, said)
		assert.Contains(t, strings.Join(d.Warnings, " "), "the run ended with")
	}
}

// TestExceptionIsNotClean: a run that died of something is not clean even when
// every value is.
func TestExceptionIsNotClean(t *testing.T) {
	for _, said := range []string{
		"RuntimeError: CUDA error: an illegal memory access was encountered",
		"ValueError: The observation group 'actor' contains NaN values",
		"AssertionError: quaternion is not normalised",
	} {
		_, d := newRun(40).event(dump.Event{Tick: 200, Kind: dump.EventNote, Detail: said}).judge()
		assert.Equal(t, UnknownCause, d.Verdict, said)
		assert.NotEmpty(t, d.Causes)
	}
	r := newRun(40)
	r.man.Run.Exception = "RuntimeError: CUDA error: an illegal memory access was encountered"
	_, d := r.judge()
	assert.Equal(t, StaleGraph, d.Causes[0].ID, fmt.Sprint(d.Causes[0]))
}
