package mjb

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// facts are what MuJoCo itself says of a model: testdata/*.facts.json,
// ../shared/dumps/models, and testdata/rich.zip, which has more of them.
type facts struct {
	MuJoCo         string
	NQ, NV, NU, NA int
	NBody          int
	NJnt           int
	NGeom          int
	NMocap         int
	NHistory       int
	NPlastic       int
	NEq, NUserData int
	NPluginState   int
	Timestep       float64
	Iterations     int
	LSIterations   int `json:"ls_iterations"`
	Solver         int
	Integrator     int
	Cone           int
	Gravity        [3]float64
	ImpRatio       *float64
	DisableFlags   int
	EnableFlags    int

	StatePhysics      stateFact `json:"state_physics"`
	StatePhysicsMocap stateFact `json:"state_physics_mocap"`
	States            []stateFact

	Bodies      []string
	BodyParent  []int        `json:"body_parent"`
	BodyMass    []float64    `json:"body_mass"`
	BodyInertia [][3]float64 `json:"body_inertia"`
	BodyMocap   []int        `json:"body_mocapid"`
	Joints      []jointFact
	Actuators   []actuatorFact
	CtrlLimited []bool       `json:"ctrl_limited"`
	CtrlRange   [][2]float64 `json:"ctrl_range"`
	DofArmature []float64    `json:"dof_armature"`
	DofDamping  []float64    `json:"dof_damping"`
	DofInvW0    []float64    `json:"dof_invweight0"`
	Qpos0       []float64
	Geoms       []geomFact
	Kinematics  []kinematicsFact
}

type stateFact struct{ Spec, Size int }

type jointFact struct {
	Name, Type            string
	QposAdr, DofAdr, Body int
	Limited               bool
	Range                 [2]float64
	Axis                  [3]float64
}

type actuatorFact struct {
	Name         string
	GainPrm0     float64
	CtrlLimited  *bool
	CtrlRange    *[2]float64
	BiasPrm      *[3]float64
	ForceLimited bool
	ForceRange   [2]float64
	TrnType      *int
	TrnID        [2]int
	CtrlAdr      int
	CtrlNum      int
	ActAdr       int
	ActNum       int
}

type geomFact struct {
	Name       string
	Type, Body int
	Condim     *int
	Size       [3]float64
	Pos        [3]float64
	Quat       [4]float64
	Friction   [3]float64
	SolRef     [2]float64
	SolImp     [5]float64
}

type kinematicsFact struct {
	Qpos      []float64
	MocapPos  [][]float64  `json:"mocap_pos"`
	MocapQuat [][]float64  `json:"mocap_quat"`
	Xpos      [][3]float64 `json:"xpos"`
	Xquat     [][4]float64 `json:"xquat"`
}

// sharedDir returns the folder of collected dumps, or skips.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "shared", "dumps"))
	require.NoError(t, err)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no collected dumps: %v", err)
	}
	return dir
}

func TestFacts(t *testing.T) {
	t.Parallel()
	testFactFiles(t, filepath.Join("testdata", "*.facts.json"))
}

func TestSharedFacts(t *testing.T) {
	t.Parallel()
	testFactFiles(t, filepath.Join(sharedDir(t), "models", "*", "*.facts.json"))
}

func testFactFiles(t *testing.T, pattern string) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, "no facts: %s", pattern)
	for _, file := range files {
		base := strings.TrimSuffix(file, ".facts.json")
		t.Run(filepath.Base(filepath.Dir(base))+"/"+filepath.Base(base), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := Open(base + ".mjb")
			require.NoError(t, err)
			checkFacts(t, m, text)
		})
	}
}

// TestEveryRelease reads a model that uses all features, saved by every release.
func TestEveryRelease(t *testing.T) {
	t.Parallel()
	z := openRich(t)
	for _, r := range releases {
		t.Run(r.version.String(), func(t *testing.T) {
			t.Parallel()
			text, model := readRich(t, z, r.version.String())
			m, err := NewReader(bytes.NewReader(model), int64(len(model)), "rich.mjb")
			require.NoError(t, err)
			checkFacts(t, m, text)
		})
	}
}

func openRich(t testing.TB) *zip.ReadCloser {
	z, err := zip.OpenReader(filepath.Join("testdata", "rich.zip"))
	require.NoError(t, err)
	t.Cleanup(func() { z.Close() })
	return z
}

// readRich returns the facts and the model of one version.
func readRich(t testing.TB, z *zip.ReadCloser, version string) (text, model []byte) {
	t.Helper()
	read := func(name string) []byte {
		r, err := z.Open(name)
		require.NoError(t, err)
		defer r.Close()
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		return b
	}
	return read(version + ".json"), read(version + ".mjb")
}

// checkFacts compares everything that the facts hold.
func checkFacts(t *testing.T, m *Model, text []byte) {
	t.Helper()
	var f facts
	require.NoError(t, json.Unmarshal(text, &f))
	require.NotEmpty(t, f.Bodies)

	assert.Truef(t, covers(m.Version, f.MuJoCo), "version %s does not cover %s", m.Version, f.MuJoCo)
	assert.Empty(t, m.Warnings)
	assert.Equal(t, [10]int{f.NQ, f.NV, f.NU, f.NA, f.NBody, f.NJnt, f.NGeom, f.NMocap, f.NHistory, f.NPlastic},
		[10]int{m.NQ, m.NV, m.NU, m.NA, m.NBody, m.NJnt, m.NGeom, m.NMocap, m.NHistory, m.NPlastic})
	want := Options{
		Timestep: f.Timestep, Iterations: f.Iterations, LSIterations: f.LSIterations, Solver: f.Solver,
		Integrator: f.Integrator, Cone: f.Cone, Gravity: f.Gravity,
		ImpRatio: m.Opt.ImpRatio, DisableFlags: m.Opt.DisableFlags, EnableFlags: m.Opt.EnableFlags,
	}
	if f.ImpRatio != nil {
		want.ImpRatio, want.DisableFlags, want.EnableFlags = *f.ImpRatio, f.DisableFlags, f.EnableFlags
	}
	assert.Equal(t, want, m.Opt)
	checkTree(t, m, &f)
	checkActuators(t, m, &f)
	checkGeoms(t, m, &f)
	checkStates(t, m, &f)
	checkKinematics(t, m, &f)
}

// covers reports whether a version text, perhaps a range, holds a version.
func covers(text, v string) bool {
	first, last, ok := strings.Cut(text, "-")
	if !ok {
		last = first
	}
	at := func(s string) int {
		for i, r := range releases {
			if r.version.String() == s {
				return i
			}
		}
		return -1
	}
	return at(first) >= 0 && at(first) <= at(v) && at(v) <= at(last)
}

func checkTree(t *testing.T, m *Model, f *facts) {
	require.Len(t, m.Bodies, len(f.Bodies))
	for i, b := range m.Bodies {
		assert.Equal(t, f.Bodies[i], b.Name)
		assert.Equal(t, f.BodyParent[i], b.Parent)
		assert.InEpsilon(t, 1+f.BodyMass[i], 1+b.Mass, 1e-12)
		if f.BodyInertia != nil {
			assert.Equal(t, f.BodyInertia[i], b.Inertia)
			assert.Equal(t, f.BodyMocap[i], b.Mocap)
		}
	}
	require.Len(t, m.Joints, len(f.Joints))
	for i, j := range m.Joints {
		assert.Equal(t, f.Joints[i], jointFact{j.Name, j.Type.String(), j.QposAdr, j.DofAdr, j.Body, j.Limited, j.Range, j.Axis})
	}
	assert.Equal(t, f.DofArmature, m.DofArmature)
	assert.Equal(t, f.DofDamping, m.DofDamping)
	if f.Qpos0 != nil {
		assert.Equal(t, f.DofInvW0, m.DofInvW0)
		assert.Equal(t, f.Qpos0, m.Qpos0)
	}
}

func checkActuators(t *testing.T, m *Model, f *facts) {
	require.Len(t, m.Actuators, len(f.Actuators))
	for i, a := range m.Actuators {
		w := f.Actuators[i]
		assert.Equal(t, w.Name, a.Name)
		assert.Equal(t, w.GainPrm0, a.GainPrm0)
		if w.CtrlRange != nil {
			assert.Equal(t, *w.CtrlLimited, a.CtrlLimited)
			assert.Equal(t, *w.CtrlRange, a.CtrlRange)
		}
		if w.TrnType == nil {
			continue
		}
		joint := -1
		if *w.TrnType <= 1 || *w.TrnType == 6 && w.TrnID[1] < 0 {
			joint = w.TrnID[0]
		}
		assert.Equal(t, Actuator{
			Name: w.Name, GainPrm0: w.GainPrm0, BiasPrm: *w.BiasPrm, Gear: gearOf(w.Name), FilterTime: filterOf(w.Name),
			CtrlLimited: f.CtrlLimited[w.CtrlAdr], CtrlRange: f.CtrlRange[w.CtrlAdr],
			ForceLimited: w.ForceLimited, ForceRange: w.ForceRange, Joint: joint,
			CtrlAdr: w.CtrlAdr, NCtrl: w.CtrlNum, ActAdr: w.ActAdr, NAct: w.ActNum,
		}, a)
	}
}

// gearOf returns the gear that rich.py and the models of the collection give an
// actuator.
func filterOf(name string) float64 {
	if name == "gs" {
		return 0.1
	}
	return 0
}

func gearOf(name string) float64 {
	switch name {
	case "m1":
		return 3
	case "gs":
		return 0
	}
	return 1
}

// TestHandExtras: the arrays that the facts files do not hold, as MuJoCo 4.0.0
// shows them for this model.
func TestHandExtras(t *testing.T) {
	t.Parallel()
	m, err := Open(filepath.Join("testdata", "mocap_hand_4.0.0.mjb"))
	require.NoError(t, err)
	half := math.Sqrt(0.5)
	for i, b := range m.Bodies {
		want, turned := [3]float64{}, [4]float64{1}
		if 4 <= i && i <= 6 { // the fingers are capsules along x
			want, turned = [3]float64{[]float64{.025, .02, .025}[i-4]}, [4]float64{half, 0, -half, 0}
		}
		assert.InDeltaSlice(t, want[:], b.IPos[:], 1e-15, b.Name)
		assert.InDeltaSlice(t, turned[:], b.IQuat[:], 1e-15, b.Name)
	}
	for i, g := range m.Geoms {
		collides := 1
		if i == 1 || i == 2 { // the two mocap markers
			collides = 0
		}
		assert.Equal(t, [3]float64{float64(collides), float64(collides), 0}, [3]float64{float64(g.ConType), float64(g.ConAff), g.Margin}, g.Name)
	}
	assert.Equal(t, make([]float64, m.NV), m.DofFriction)
	for _, j := range m.Joints {
		assert.Zero(t, j.Stiffness)
	}
}

func checkGeoms(t *testing.T, m *Model, f *facts) {
	require.Len(t, m.Geoms, len(f.Geoms))
	for i, g := range m.Geoms {
		w := f.Geoms[i]
		want := Geom{
			Name: w.Name, Type: w.Type, Body: w.Body, Condim: g.Condim,
			Size: g.Size, Pos: g.Pos, Quat: g.Quat, Friction: g.Friction, SolRef: g.SolRef, SolImp: g.SolImp,
			ConType: g.ConType, ConAff: g.ConAff, Margin: g.Margin,
		}
		if w.Condim != nil {
			want = Geom{
				Name: w.Name, Type: w.Type, Body: w.Body, Condim: *w.Condim,
				Size: w.Size, Pos: w.Pos, Quat: w.Quat, Friction: w.Friction, SolRef: w.SolRef, SolImp: w.SolImp,
				ConType: g.ConType, ConAff: g.ConAff, Margin: g.Margin,
			}
		}
		assert.Equal(t, want, g)
	}
}

func checkStates(t *testing.T, m *Model, f *facts) {
	states := f.States
	if states == nil {
		states = []stateFact{f.StatePhysics, f.StatePhysicsMocap}
	}
	for _, s := range states {
		parts, err := m.StateParts(s.Spec)
		require.NoError(t, err)
		assert.Equal(t, s.Size, width(parts), "spec %d", s.Spec)
		assert.Len(t, m.StateLabels(parts), s.Size)
		again, err := m.PartsForSize(s.Spec, s.Size)
		require.NoError(t, err)
		assert.Equal(t, parts, again)
	}
	for _, s := range states[:2] { // physics, alone and with mocap bodies
		want, err := m.StateParts(s.Spec)
		require.NoError(t, err)
		got, err := m.PartsForSize(0, s.Size)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	physics, err := m.StateParts(states[0].Spec)
	require.NoError(t, err)
	zero, err := m.StateParts(0)
	require.NoError(t, err)
	assert.Equal(t, physics, zero)
}

func checkKinematics(t *testing.T, m *Model, f *facts) {
	require.NotEmpty(t, f.Kinematics)
	flat := func(rows [][]float64) (v []float64) {
		for _, r := range rows {
			v = append(v, r...)
		}
		return v
	}
	for _, k := range f.Kinematics {
		poses := m.Kinematics(k.Qpos, flat(k.MocapPos), flat(k.MocapQuat))
		require.Len(t, poses, m.NBody)
		for i, p := range poses {
			assert.InDeltaSlice(t, k.Xpos[i][:], p.Pos[:], 1e-9, "body %d", i)
			assert.InDeltaSlice(t, k.Xquat[i][:], p.Quat[:], 1e-9, "body %d", i)
		}
	}
}
