package mjb

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The MJCF beside UniLab's dump describes the model of mocap_hand's facts.
func TestJointsFromMJCF(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join("testdata", "hand.xml"))
	require.NoError(t, err)
	defer f.Close()
	m, err := JointsFromMJCF(f)
	require.NoError(t, err)

	var want facts
	require.NoError(t, json.Unmarshal(readTestdata(t, "mocap_hand_3.5.0.facts.json"), &want))
	assert.Equal(t, [7]int{want.NQ, want.NV, want.NU, want.NA, want.NBody, want.NJnt, want.NMocap},
		[7]int{m.NQ, m.NV, m.NU, m.NA, m.NBody, m.NJnt, m.NMocap})
	assert.Equal(t, Options{
		Timestep: want.Timestep, Iterations: want.Iterations, LSIterations: want.LSIterations, Solver: want.Solver,
		Integrator: want.Integrator, Cone: want.Cone, Gravity: want.Gravity, ImpRatio: 1,
	}, m.Opt)
	for i, j := range m.Joints {
		w := want.Joints[i]
		assert.Equal(t, jointFact{Name: w.Name, Type: w.Type, QposAdr: w.QposAdr, DofAdr: w.DofAdr, Body: w.Body},
			jointFact{Name: j.Name, Type: j.Type.String(), QposAdr: j.QposAdr, DofAdr: j.DofAdr, Body: j.Body})
	}
	for i, b := range m.Bodies {
		assert.Equal(t, want.Bodies[i], b.Name)
		assert.Equal(t, want.BodyParent[i], b.Parent)
	}
	assert.Equal(t, []string{"index_muscle", "thumb_int", "thumb_pos"}, m.CtrlLabels())
	assert.Equal(t, "", m.Version)
	assert.Nil(t, m.Kinematics(make([]float64, m.NQ), nil, nil))

	// The same labels as from the binary model, whatever version the spec is of.
	binary := open(t, "mocap_hand_3.5.0.mjb")
	all, err := binary.StateParts(3102)
	require.NoError(t, err)
	for _, spec := range []int{1550, 3102, 19486} {
		parts, err := m.PartsForSize(spec, 55)
		require.NoError(t, err)
		assert.Equal(t, binary.StateLabels(all), m.StateLabels(parts))
	}
	parts, err := m.PartsForSize(0, 41)
	require.NoError(t, err)
	assert.Equal(t, all[:3], parts)
	_, err = m.StateParts(1 << 4)
	assert.ErrorContains(t, err, "does not say its MuJoCo version")
}

func mjcfOf(t *testing.T, text string) *Model {
	t.Helper()
	m, err := JointsFromMJCF(strings.NewReader(text))
	require.NoError(t, err)
	return m
}

// Order is that of bodies; a joint may stand behind a child, a class behind its use.
func TestMJCFOrderAndClasses(t *testing.T) {
	t.Parallel()
	m := mjcfOf(t, `<?xml version="1.0"?><!-- comment --><mujoco>
	<worldbody><body name="a" childclass="slider"><body name="b"><joint name="b1" class="own"/><joint name="b2"/></body>
	  <joint name="a1"/><joint name="a2" type="hinge"/></body></worldbody>
	<default><joint type="ball"/>
	  <default class="slider"><default class="inner"/><joint type="slide"/></default>
	  <default class="own"><joint damping="1"/></default></default>
	<worldbody><body><joint class="inner"/></body><body><freejoint/></body></worldbody></mujoco>`)
	got := []string{}
	for _, j := range m.Joints {
		got = append(got, fmt.Sprintf("%d %s %s %d %d", j.Body, j.Name, j.Type, j.QposAdr, j.DofAdr))
	}
	assert.Equal(t, []string{
		"1 a1 slide 0 0", "1 a2 hinge 1 1", "2 b1 ball 2 2", "2 b2 slide 6 5", "3  slide 7 6", "4  free 8 7",
	}, got)
	assert.Equal(t, [2]int{15, 13}, [2]int{m.NQ, m.NV})
}

// Older versions let the main class have a name of its own.
func TestMJCFNamedMainClass(t *testing.T) {
	t.Parallel()
	m := mjcfOf(t, `<mujoco><default class="robot"><joint type="slide"/></default>
	<worldbody><body><joint/><joint class="robot"/><joint class="main"/></body></worldbody></mujoco>`)
	for _, j := range m.Joints {
		assert.Equal(t, SlideJoint, j.Type)
	}
	assert.Len(t, m.Joints, 3)
}

func TestMJCFActivations(t *testing.T) {
	t.Parallel()
	m := mjcfOf(t, `<mujoco><worldbody><body><joint name="j"/></body></worldbody><actuator>
	<motor name="a" joint="j"/><muscle name="b"/><position name="c" timeconst="0.1"/><position name="d" timeconst="0"/>
	<general name="e" dyntype="user" actdim="3"/><general name="f"/><general name="g" dyntype="none"/><intvelocity/>
	</actuator></mujoco>`)
	assert.Equal(t, 8, m.NU)
	parts, err := m.StateParts(1 << 3)
	assert.Empty(t, parts)
	assert.Error(t, err)
	physics, err := m.StateParts(0)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"qpos j", "qvel j", "act b", "act c", "act e[0]", "act e[1]", "act e[2]", "act actuator7",
	}, m.StateLabels(physics))
	assert.Equal(t, 0, m.Actuators[0].Joint)
	assert.Equal(t, -1, m.Actuators[1].Joint)
}

func TestMJCFNotSimple(t *testing.T) {
	t.Parallel()
	body := `<mujoco><worldbody><body>%s</body></worldbody></mujoco>`
	for _, tt := range []struct{ element, text string }{
		{"include", `<mujoco><include file="robot.xml"/></mujoco>`},
		{"include", fmt.Sprintf(body, `<include file="leg.xml"/>`)},
		{"include", `<mujoco><default><include file="d.xml"/></default></mujoco>`},
		{"include", `<mujoco><actuator><include file="a.xml"/></actuator></mujoco>`},
		{"replicate", fmt.Sprintf(body, `<replicate count="3"><body><joint/></body></replicate>`)},
		{"attach", fmt.Sprintf(body, `<attach model="arm" prefix="l_"/>`)},
		{"frame", fmt.Sprintf(body, `<frame pos="1 0 0"><joint/></frame>`)},
		{"composite", fmt.Sprintf(body, `<composite type="cable"/>`)},
		{"flexcomp", fmt.Sprintf(body, `<flexcomp type="grid"/>`)},
		{"compiler", `<mujoco><compiler fusestatic="true"/></mujoco>`},
		{"plugin", `<mujoco><actuator><plugin plugin="pid"/></actuator></mujoco>`},
		{"position", `<mujoco><default><general dyntype="filter"/></default><actuator><position joint="j"/></actuator></mujoco>`},
	} {
		m, err := JointsFromMJCF(strings.NewReader(tt.text))
		var e *NotSimpleError
		require.ErrorAs(t, err, &e, tt.text)
		assert.Equal(t, tt.element, e.Element)
		assert.ErrorContains(t, err, "not simple enough: <"+tt.element+">")
		assert.Nil(t, m)
	}
}

func TestMJCFNotModel(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "no xml", "<robot name='urdf'/>", "<mujoco>", "<mujoco></worldbody>", "<mujoco/><mujoco/>",
		"\x00\x01",
	} {
		_, err := JointsFromMJCF(strings.NewReader(text))
		assert.ErrorIs(t, err, ErrNotModel, "%q", text)
	}
}

func TestMJCFErrors(t *testing.T) {
	t.Parallel()
	body := `<mujoco><worldbody><body>%s</body></worldbody></mujoco>`
	for text, want := range map[string]string{
		fmt.Sprintf(body, `<joint name="j" type="screw"/>`):                                                             `joint "j" has the unknown type "screw"`,
		fmt.Sprintf(body, `<joint name="j" class="none"/>`):                                                             `joint "j" has the unknown class "none"`,
		`<mujoco><actuator><general name="g" dyntype="user" actdim="x"/></actuator></mujoco>`:                           `actuator "g" has the actdim "x"`,
		`<mujoco>` + strings.Repeat("<a>", 1000):                                                                        "elements nest deeper than 512",
		`<mujoco><worldbody>` + strings.Repeat("<body>", 1000):                                                          "elements nest deeper than 512",
		`<mujoco>` + strings.Repeat(" ", maxMJCF) + `</mujoco>`:                                                         "more than 16777216 bytes",
		`<mujoco><actuator>` + strings.Repeat(`<general dyntype="user" actdim="1000000"/>`, 3) + `</actuator></mujoco>`: "activations",
	} {
		_, err := JointsFromMJCF(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

func TestMJCFReaderFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	_, err := JointsFromMJCF(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, ErrNotModel)
	_, err = JointsFromMJCF(strings.NewReader(`<?xml version="1.0" encoding="UTF-16"?><mujoco/>`))
	require.ErrorContains(t, err, "UTF-16")
}

// Options that make no sense leave the default and a warning.
func TestMJCFOptions(t *testing.T) {
	t.Parallel()
	m := mjcfOf(t, `<mujoco><option timestep="5ms" gravity="0 0" iterations="7" solver="CG" cone="round"
		integrator="discrete" impratio="10"/></mujoco>`)
	assert.Equal(t, Options{
		Timestep: 0.002, Iterations: 7, LSIterations: 50, Solver: 1, Integrator: 4,
		Gravity: [3]float64{0, 0, -9.81}, ImpRatio: 10,
	}, m.Opt)
	require.Len(t, m.Warnings, 3)
	assert.EqualError(t, m.Warnings[1], `mjcf: option gravity: "0 0" has 2 numbers, want 3`)
	assert.EqualError(t, m.Warnings[2], `mjcf: option cone: "round" is none of pyramidal, elliptic`)
}

func FuzzJointsFromMJCF(f *testing.F) {
	f.Add(string(readTestdata(f, "hand.xml")))
	f.Add(`<mujoco><default><joint type="ball"/></default><worldbody><body><joint/></body></worldbody></mujoco>`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := JointsFromMJCF(strings.NewReader(text))
		if (m == nil) == (err == nil) {
			t.Fatal("want a model or an error")
		}
		if m != nil {
			use(m)
		}
	})
}
