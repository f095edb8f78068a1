package rootcause_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

// shared returns a path below the shared data beside the repository, or skips.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{"..", "..", "shared", "dumps"}, parts...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("real dumps are not here: %v", err)
	}
	return p
}

// diagnose diagnoses the only dump that matches a pattern.
func diagnose(t testing.TB, pattern string) (*rootcause.Case, rootcause.Diagnosis) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names, pattern)
	f, err := dump.Open(names[0])
	require.NoError(t, err)
	defer f.Close()
	c, err := rootcause.NewCase(f)
	require.NoError(t, err)
	return c, rootcause.Diagnose(c, rootcause.DefaultOptions())
}

// label is what a labelled run's author says is wrong in it.
type label struct {
	Cause *string  `json:"cause"`
	Also  []string `json:"also"`
	Trip  *dump.Trip
}

// TestTrainingRuns: real mjlab training runs with one fault each, written by an
// independent writer. The right cause is first and earns the verdict.
func TestTrainingRuns(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "mjlab_runs"), "*", "nan_dump.npz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		run := filepath.Base(filepath.Dir(name))
		b, err := os.ReadFile(filepath.Join(filepath.Dir(name), "_label.json"))
		require.NoError(t, err)
		var l label
		require.NoError(t, json.Unmarshal(b, &l))
		_, d := diagnose(t, name)
		if l.Cause == nil {
			assert.Equal(t, rootcause.Clean, d.Verdict, run)
			assert.Empty(t, d.Causes, run)
			continue
		}
		right := append(l.Also, *l.Cause)
		assert.Contains(t, right, d.Causes[0].ID, run)
		assert.Contains(t, right, d.Verdict, run)
		if l.Trip == nil {
			assert.Nil(t, d.FirstBad, run)
			continue
		}
		require.NotNil(t, d.FirstBad, run)
		assert.Equal(t, l.Trip.Field, d.FirstBad.Field, run)
		assert.Equal(t, l.Trip.Tick, d.FirstBad.Tick, run)
		assert.Equal(t, l.Trip.Env, d.FirstBad.Env, run)
		assert.Equal(t, l.Trip.Col, d.FirstBad.Col, run)
	}
}

// TestOwnCopies: two real dumps that come with the repository.
func TestOwnCopies(t *testing.T) {
	_, d := diagnose(t, filepath.Join("testdata", "go1_stiff.npz"))
	assert.Equal(t, rootcause.ContactDivergence, d.Verdict)
	assert.Equal(t, "qacc", d.FirstBad.Field)
	assert.Equal(t, "qvel", d.Root.Field)
	assert.Equal(t, 19, *d.Root.Env)
	assert.Equal(t, "FR_calf_joint", d.Root.Column)

	_, d = diagnose(t, filepath.Join("testdata", "mjlab_v4.npz")) // without its model
	assert.Equal(t, rootcause.UnknownCause, d.Verdict)
	assert.Equal(t, rootcause.ContactDivergence, d.Causes[0].ID)
	assert.Contains(t, d.Next[1].Text, "put the .mjb beside the dump")
	assert.Nil(t, d.FirstBad)
	assert.Equal(t, int64(21), d.Root.Tick)
	assert.Less(t, d.Coverage, 0.4)
}

// TestRunRoots: where each of those runs began, which is not where it tripped.
func TestRunRoots(t *testing.T) {
	for _, c := range []struct {
		run, field, class string
		env               int
	}{
		{"go1_timestep", "qvel", "growing", 29},
		{"go1_stiff", "qvel", "growing", 19},
		{"go1_gains", "qvel", "growing", 14},
		{"g1_gains", "qvel", "growing", 21},
		{"go1_normalizer", "normalizer.var", "negative", -1},
		{"go1_std", "param.std", "negative", -1},
		{"go1_learning_rate", "lr", "extreme", -1},
	} {
		_, d := diagnose(t, filepath.Join(shared(t, "mjlab_runs", c.run), "nan_dump.npz"))
		require.NotNil(t, d.Root, c.run)
		assert.Equal(t, c.field, d.Root.Field, c.run)
		assert.Equal(t, c.class, d.Root.Class, c.run)
		if c.env < 0 {
			assert.Nil(t, d.Root.Env, c.run)
			continue
		}
		require.NotNil(t, d.Root.Env, c.run)
		assert.Equal(t, c.env, *d.Root.Env, c.run)
	}
}

// TestGuardDumps: dumps by the guards of mjlab and its relatives, which hold no
// NaN. Where the state ran away in the file, contact is first.
func TestGuardDumps(t *testing.T) {
	for _, c := range []struct{ dir, verdict, lead string }{
		{"mjlab_v16", rootcause.ContactDivergence, "qvel right_elbow"},
		{"mjlab_v2b", rootcause.ContactDivergence, "qvel palm_free wy"},
		{"mjlab_v4", rootcause.ContactDivergence, "qvel palm_free wy"},
		{"mjlab_mujoco4", rootcause.ContactDivergence, "qvel palm_free wy"},
		{"mjlab_long_run", rootcause.ContactDivergence, "qvel palm_free wz"},
		{"ms_lab", rootcause.ContactDivergence, "qvel palm_free wy"},
		{"parahand", rootcause.ContactDivergence, "qvel palm_free wz"},
		{"unilab", rootcause.ContactDivergence, "qvel palm_free wy"},
		{"mjlab_v3", rootcause.UnknownCause, ""}, // the state before the impulse is ordinary
		{"mjlab_v1", rootcause.UnknownCause, ""}, // the culprit is not in the file
	} {
		_, d := diagnose(t, filepath.Join(shared(t, c.dir), "nan_dump_2*.npz"))
		assert.Equal(t, c.verdict, d.Verdict, c.dir)
		assert.Nil(t, d.FirstBad, c.dir)
		assert.Less(t, d.Coverage, 0.4, c.dir)
		assert.Contains(t, strings.Join(d.Warnings, "\n"), "LOW COVERAGE", c.dir)
		if c.lead == "" {
			assert.Nil(t, d.Root, c.dir)
			continue
		}
		require.NotNil(t, d.Root, c.dir)
		assert.Equal(t, c.lead, d.Root.Column, c.dir)
	}
}

// TestMalformedFiles: whatever opens can be diagnosed, and none of it is clean
// that holds the dump of a guard.
func TestMalformedFiles(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(shared(t, "bad"), "*.npz"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		f, err := dump.Open(name)
		if err != nil {
			continue
		}
		c, err := rootcause.NewCase(f)
		if assert.NoError(t, err, name) {
			d := rootcause.Diagnose(c, rootcause.DefaultOptions())
			sum := 0.0
			for _, h := range d.Causes {
				sum += h.Probability
			}
			if d.Verdict == rootcause.Clean {
				assert.True(t, strings.HasPrefix(f.Format(), "nanguard"), name)
				assert.Empty(t, f.Metadata().Get("nan_env_ids"), "%s: the file says that envs went bad", name)
			} else {
				assert.InDelta(t, 1, sum, 1e-9, name)
			}
			assert.Len(t, d.Checklist, 10, name)
		}
		f.Close()
	}
}

// TestGolden: the whole answer for three real runs, as JSON.
func TestGolden(t *testing.T) {
	for _, run := range []string{"go1_timestep", "go1_std", "g1_gains"} {
		t.Run(run, func(t *testing.T) {
			_, d := diagnose(t, filepath.Join(shared(t, "mjlab_runs", run), "nan_dump.npz"))
			for i := range d.Causes {
				d.Causes[i].Probability = float64(int(d.Causes[i].Probability*1e4+0.5)) / 1e4
			}
			d.Warnings = nil // of the reader
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetIndent("", " ")
			e.SetEscapeHTML(false)
			require.NoError(t, e.Encode(d))
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

// TestValidationDumps scores a folder of labelled dumps that nothing was tuned
// on; NANGUARD_VALIDATION names it (folders with label.json and a dump each).
func TestValidationDumps(t *testing.T) {
	root := os.Getenv("NANGUARD_VALIDATION")
	if root == "" {
		t.Skip("NANGUARD_VALIDATION names no folder of labelled dumps")
	}
	labels, err := filepath.Glob(filepath.Join(root, "*", "label.json"))
	require.NoError(t, err)
	require.NotEmpty(t, labels)
	right, n := 0, 0
	for _, name := range labels {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		var l label
		require.NoError(t, json.Unmarshal(b, &l), name)
		_, d := diagnose(t, filepath.Join(filepath.Dir(name), "nan_dump*.npz"))
		top, want := d.Verdict, rootcause.Clean
		if len(d.Causes) > 0 {
			top = d.Causes[0].ID
		}
		if l.Cause != nil {
			want = *l.Cause
		}
		n++
		if top == want || strings.Contains(strings.Join(l.Also, " "), top) || d.Verdict == want {
			right++
		} else {
			t.Logf("%s: want %s, got %s (verdict %s)", filepath.Base(filepath.Dir(name)), want, top, d.Verdict)
		}
	}
	t.Logf("%d of %d right", right, n)
	assert.GreaterOrEqual(t, float64(right), 0.9*float64(n))
}
