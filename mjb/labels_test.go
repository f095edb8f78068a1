package mjb

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t testing.TB, name string) *Model {
	t.Helper()
	m, err := Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	return m
}

func openRelease(t testing.TB, version string) *Model {
	t.Helper()
	_, b := readRich(t, openRich(t), version)
	m, err := NewReader(bytes.NewReader(b), int64(len(b)), version)
	require.NoError(t, err)
	return m
}

func TestStateLabels(t *testing.T) {
	t.Parallel()
	m := open(t, "mocap_hand_4.0.0.mjb")
	parts, err := m.StateParts(19486)
	require.NoError(t, err)
	assert.Equal(t, []Part{{"qpos", 0, 21}, {"qvel", 21, 39}, {"act", 39, 41}, {"mocap_pos", 41, 47}, {"mocap_quat", 47, 55}}, parts)
	assert.Equal(t, []string{
		"qpos palm_free x", "qpos palm_free y", "qpos palm_free z",
		"qpos palm_free qw", "qpos palm_free qx", "qpos palm_free qy", "qpos palm_free qz",
		"qpos index_ball qw", "qpos index_ball qx", "qpos index_ball qy", "qpos index_ball qz",
		"qpos index_hinge", "qpos thumb_slide", "qpos thumb_hinge",
		"qpos egg_free x", "qpos egg_free y", "qpos egg_free z",
		"qpos egg_free qw", "qpos egg_free qx", "qpos egg_free qy", "qpos egg_free qz",
		"qvel palm_free vx", "qvel palm_free vy", "qvel palm_free vz",
		"qvel palm_free wx", "qvel palm_free wy", "qvel palm_free wz",
		"qvel index_ball wx", "qvel index_ball wy", "qvel index_ball wz",
		"qvel index_hinge", "qvel thumb_slide", "qvel thumb_hinge",
		"qvel egg_free vx", "qvel egg_free vy", "qvel egg_free vz",
		"qvel egg_free wx", "qvel egg_free wy", "qvel egg_free wz",
		"act index_muscle", "act thumb_int",
		"mocap_pos target x", "mocap_pos target y", "mocap_pos target z",
		"mocap_pos goal x", "mocap_pos goal y", "mocap_pos goal z",
		"mocap_quat target qw", "mocap_quat target qx", "mocap_quat target qy", "mocap_quat target qz",
		"mocap_quat goal qw", "mocap_quat goal qx", "mocap_quat goal qy", "mocap_quat goal qz",
	}, m.StateLabels(parts))
}

// The labels of what has no name, several columns or a slash in its name.
func TestStateLabelsOfOddColumns(t *testing.T) {
	t.Parallel()
	m := openRelease(t, "4.0.1")
	parts, err := m.StateParts(1<<15 - 1)
	require.NoError(t, err)
	labels := map[string][]string{}
	all := m.StateLabels(parts)
	for _, p := range parts {
		labels[p.Name] = all[p.From:p.To]
	}
	assert.Equal(t, []string{"time"}, labels["time"])
	assert.Equal(t, "qpos robot/root x", labels["qpos"][0])
	assert.Equal(t, []string{"qpos h3", "qpos joint6"}, labels["qpos"][14:16])
	assert.Equal(t, []string{"act mus", "act iv", "act gs", "act us[0]", "act us[1]"}, labels["act"])
	assert.Equal(t, "history[13]", labels["history"][13])
	assert.Equal(t, "warmstart robot/root vx", labels["warmstart"][0])
	assert.Equal(t, []string{
		"ctrl m1", "ctrl p", "ctrl mus", "ctrl iv", "ctrl gs", "ctrl actuator5", "ctrl us",
		"ctrl ori[0]", "ctrl ori[1]", "ctrl ori[2]", "ctrl ori[3]", "ctrl pd[0]", "ctrl pd[1]", "ctrl del",
	}, labels["ctrl"])
	assert.Equal(t, "xfrc_applied world fx", labels["xfrc_applied"][0])
	assert.Equal(t, "xfrc_applied body7 tz", labels["xfrc_applied"][47])
	assert.Equal(t, []string{"mocap_pos mc x", "mocap_pos mc y", "mocap_pos mc z"}, labels["mocap_pos"])
	assert.Equal(t, []string{"userdata[0]", "userdata[1]", "userdata[2]"}, labels["userdata"])
	assert.Equal(t, "plastic[6]", labels["plastic"][6])
}

func TestFieldLabels(t *testing.T) {
	t.Parallel()
	m := open(t, "mocap_hand_3.1.6.mjb")
	assert.Equal(t, []string{"index_muscle", "thumb_int", "thumb_pos"}, m.CtrlLabels())
	assert.Equal(t, []string{"index_ball wx", "index_ball wy", "index_ball wz", "index_hinge"}, m.DofLabels()[6:10])
	assert.Equal(t, []string{"palm_free qz", "index_ball qw"}, m.QposLabels()[6:8])

	m = &Model{NQ: 3, NV: 2, NU: 1, Joints: []Joint{{Type: HingeJoint}}}
	assert.Equal(t, []string{"joint0", "qpos[1]", "qpos[2]"}, m.QposLabels())
	assert.Equal(t, []string{"joint0", "dof[1]"}, m.DofLabels())
	assert.Equal(t, []string{"ctrl[0]"}, m.CtrlLabels())
}

// Parts that do not come from the model are numbered, not named.
func TestStateLabelsOfOtherParts(t *testing.T) {
	t.Parallel()
	m := open(t, "box_stack_3.3.7.mjb")
	got := m.StateLabels([]Part{{"qvel", 0, 2}, {"state", 2, 3}, {"act", 3, 3}, {"qpos", 9, 4}})
	assert.Equal(t, []string{"qvel[0]", "qvel[1]", "state[0]"}, got)
}

func TestStateParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		version string
		spec    int
		want    []string
	}{
		{"3.4.0", 14, []string{"qpos", "qvel", "act"}},
		{"3.4.0", 30, []string{"qpos", "qvel", "act", "warmstart"}},
		{"3.4.0", 1550, []string{"qpos", "qvel", "act", "mocap_pos", "mocap_quat"}},
		{"3.5.0", 14, []string{"qpos", "qvel", "act"}},
		{"3.5.0", 30, []string{"qpos", "qvel", "act", "history"}},
		{"3.5.0", 1550, []string{"qpos", "qvel", "act", "eq_active", "mocap_pos"}},
		{"3.5.0", 3102, []string{"qpos", "qvel", "act", "history", "mocap_pos", "mocap_quat"}},
		{"4.0.0", 30, []string{"qpos", "qvel", "act", "history"}},
		{"4.0.0", 16414, []string{"qpos", "qvel", "act", "history", "plastic"}},
		{"4.0.0", 19486, []string{"qpos", "qvel", "act", "history", "mocap_pos", "mocap_quat", "plastic"}},
		{"4.0.0", 1, []string{"time"}},
		{"4.0.0", 1 << 13, []string{}}, // plugin: the model has no such state
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s/%d", tt.version, tt.spec), func(t *testing.T) {
			t.Parallel()
			parts, err := openRelease(t, tt.version).StateParts(tt.spec)
			require.NoError(t, err)
			names := []string{}
			at := 0
			for _, p := range parts {
				assert.Equal(t, at, p.From)
				names, at = append(names, p.Name), p.To
			}
			assert.Equal(t, tt.want, names)
		})
	}
}

func TestStatePartsErrors(t *testing.T) {
	t.Parallel()
	m := open(t, "mocap_hand_3.5.0.mjb")
	_, err := m.StateParts(16414)
	assert.EqualError(t, err, "state spec 16414: bits 0x4000 mean nothing in MuJoCo 3.5.0")
	_, err = m.StateParts(-1)
	assert.ErrorContains(t, err, "mean nothing")
	_, err = m.PartsForSize(3102, 41)
	assert.EqualError(t, err, "state spec 3102 makes 55 columns (qpos 21, qvel 18, act 2, mocap_pos 6, mocap_quat 8), the state has 41")
	_, err = m.PartsForSize(0, 44)
	assert.EqualError(t, err, "the state has 44 columns, the model's physics state 41 (qpos 21, qvel 18, act 2), or 55 with its mocap bodies")
	_, err = m.PartsForSize(0, -1)
	assert.Error(t, err)
}

// A dump that does not say its spec may hold more or less than its version's
// physics state.
func TestPartsForSize(t *testing.T) {
	t.Parallel()
	m := openRelease(t, "4.0.0")
	names := func(size int) (names []string) {
		parts, err := m.PartsForSize(0, size)
		require.NoError(t, err)
		for _, p := range parts {
			names = append(names, p.Name)
		}
		return names
	}
	core := m.NQ + m.NV + m.NA
	assert.Equal(t, []string{"qpos", "qvel", "act"}, names(core))
	assert.Equal(t, []string{"qpos", "qvel", "act", "mocap_pos", "mocap_quat"}, names(core+7))
	assert.Equal(t, []string{"qpos", "qvel", "act", "history", "plastic"}, names(core+21))
	assert.Equal(t, []string{"time", "qpos", "qvel", "act", "history", "plastic"}, names(core+22))
}
