package ui

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording/recordtest"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

// row returns the line of a pane that holds a text, without padding.
func row(lines []string, text string) string {
	for _, l := range lines {
		if strings.Contains(l, text) {
			return strings.Join(strings.Fields(l), " ")
		}
	}
	return ""
}

// TestManyBadEnvsAreOneLine: sixty envs that went bad later and were not dumped
// must not push the guilty one off the screen, nor be called culprits.
func TestManyBadEnvsAreOneLine(t *testing.T) {
	s := recordtest.Sample()
	s.M.EnvRoles[1] = dump.RoleSuspect
	s.State = &dump.StateInfo{}
	for i := range 61 {
		s.State.CulpritsMissing = append(s.State.CulpritsMissing, 100+i)
	}
	m := viewer(s, Options{Theme: Plain, Diagnose: diagnosis})
	frame := m.Frame(80, 24)
	assert.NotContains(t, frame, "culprit")
	assert.Equal(t, "›? 14 suspect bad @44", row(m.envs.View(25, 10, true)[1:2], "14"))
	assert.Contains(t, frame, "61 bad, not in file")
	assert.Contains(t, m.Frame(200, 60), "61 more bad envs, not in file")
	press(m, "shift+tab", "shift+tab", "pgdown", "down")
	assert.Equal(t, 40, m.envID(), "the line cannot be selected")

	s.M.EnvRoles[1] = dump.RoleControl
	m = viewer(s, Options{Theme: Plain})
	lines := m.envs.View(38, 10, true)
	assert.Equal(t, "61 bad envs, not in file", row(lines[1:2], "61"), "first where the file holds none of them")
	assert.Equal(t, "›· 14 control bad @44", row(lines, "14"))
}

// TestFewBadEnvsThatAreNotInTheFile are listed, and called what they are.
func TestFewBadEnvsThatAreNotInTheFile(t *testing.T) {
	s := recordtest.Sample()
	s.State = &dump.StateInfo{CulpritsMissing: []int{2, 5}}
	lines := viewer(s, Options{Theme: Plain}).envs.View(38, 10, true)
	assert.Equal(t, "2 bad not in file", row(lines, " 2 "))
	assert.Equal(t, "›✗ 14 culprit bad @44", row(lines[1:2], "14"))
}

// TestVictimsLookOtherThanCulprits: a control that went bad later keeps its
// role, and is not dressed as the one that began.
func TestVictimsLookOtherThanCulprits(t *testing.T) {
	s := recordtest.Sample()
	s.Add(dump.FieldSpec{Name: "action", PerEnv: true, Order: 60}, []string{"a"}, []int64{46, 47}, func(_, _, _ int) float64 { return math.NaN() })
	m := viewer(s, Options{Theme: Dark})
	m.spot.Env = 2
	lines := m.envs.View(25, 10, false)
	assert.Contains(t, row(lines, "30 control"), "bad @46")
	assert.Contains(t, lines[1], m.st.BadText.Render("✗"))
	assert.Contains(t, lines[2], m.st.Warn.Render("·"))
}

// TestFieldStatesAreTrue: at the frame that is shown, each class stands with
// the tick at which the values were of it.
func TestFieldStatesAreTrue(t *testing.T) {
	s := &recordtest.Source{M: dump.Manifest{EnvIDs: []int{0}}}
	s.Add(dump.FieldSpec{Name: "reward", PerEnv: true}, []string{"a"}, recordtest.Ticks(740, 760, 1), func(f, _, _ int) float64 {
		switch {
		case f >= 14:
			return 3
		case f >= 12:
			return math.NaN()
		case f >= 10:
			return 2
		case f >= 6:
			return -5.7e26
		}
		return float64(f)
	})
	m := viewer(s, Options{Theme: Plain})
	for _, c := range []struct {
		tick         int64
		wide, narrow string
	}{
		{739, "reward huge@746 NaN@752", "reward huge@746"},
		{745, "›· reward huge@746 NaN@752", "›· reward huge@746"},
		{746, "›! reward huge@746 NaN@752", "›! reward huge@746"},
		{749, "›! reward huge@746 NaN@752", "›! reward huge@746"},
		{750, "›· reward huge@746 NaN@752", "›· reward huge@746"}, // it came back
		{752, "›✗ reward 1/1 huge@746 NaN@752", "›✗ reward 1/1 NaN@752"},
		{754, "›· reward huge@746 NaN@752", "›· reward NaN@752"},
	} {
		m.spot.Tick = c.tick
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		assert.Contains(t, squeeze(m.fields.line(0, 38)), squeeze(c.wide), "tick %d", c.tick)
		assert.Contains(t, squeeze(m.fields.line(0, 25)), squeeze(c.narrow), "tick %d", c.tick)
	}
}

// TestHeaderLeadsToTheEnvWhereItBegan: the first bad value may be in a field
// of the whole run.
func TestHeaderLeadsToTheEnvWhereItBegan(t *testing.T) {
	s := recordtest.Sample()
	s.M.EnvRoles[1] = dump.RoleSuspect
	m := viewer(s, Options{Theme: Plain, Diagnose: func() (*rootcause.Diagnosis, error) {
		d := recordtest.Diagnosis()
		d.FirstBad.Field, d.FirstBad.Env = "normalizer.var", nil
		return d, nil
	}})
	assert.Equal(t, "normalizer.var", m.field().Name)
	assert.Equal(t, 14, m.envID())
	for w := 80; w <= 200; w += 20 {
		assert.Regexp(t, `began: growing .*, env 14`, m.Frame(w, 24), "%d columns", w)
	}
	assert.NotContains(t, sample().Frame(80, 24), ", env 14", "said only where it is another's")
}

// TestTimelineWithHundredsOfResets: those of other envs are ticks, over which
// all else is seen.
func TestTimelineWithHundredsOfResets(t *testing.T) {
	s := recordtest.Sample()
	for i := range 500 {
		s.M.Events = append(s.M.Events, dump.Event{Tick: int64(i % 47), Kind: dump.EventReset, Envs: []int{30}, Count: 1})
	}
	s.M.Events = append(s.M.Events, dump.Event{Tick: 30, Kind: dump.EventWarning, Envs: []int{40}, Count: 1})
	m := viewer(s, Options{Theme: Plain, Diagnose: diagnosis})
	marks := m.Frame(80, 24)
	marks = strings.Split(marks, "\n")[20]
	assert.Greater(t, strings.Count(marks, "┴"), 30)
	assert.NotContains(t, strings.ToLower(strings.Replace(marks, "R", "", 1)), "r", "one reset of this env, none of another")
	for _, glyph := range []string{"R", "G", "w", "!", "✗"} {
		assert.Contains(t, marks, glyph)
	}
	m.spot.Tick = 44
	title := m.Frame(200, 60)
	assert.Contains(t, title, "tick 44 of 1 to 47 · ✗ qacc NaN (env 14) · ✗ qvel NaN", "what matters first")
}

// TestHeaderSaysWhereItBeganWithLongNames: columns are left out before that.
func TestHeaderSaysWhereItBeganWithLongNames(t *testing.T) {
	for column, want := range map[string]string{
		"root vx":                     "NaN qacc[root vx] @44; began: growing qvel[left_knee] @38 ",
		"floating_base_joint.angular": "NaN qacc @44; began: growing qvel[left_knee] @38 ",
	} {
		m := viewer(recordtest.Sample(), Options{Theme: Plain, Diagnose: func() (*rootcause.Diagnosis, error) {
			d := recordtest.Diagnosis()
			d.FirstBad.Column = column
			return d, nil
		}})
		assert.Contains(t, m.Frame(75, 24), want)
	}
}
