package mjb

import "io"

// Model is what nanguard needs of a MuJoCo binary model file. Meshes, textures
// and other large arrays are never read.
type Model struct {
	Version     string // MuJoCo's version, such as "3.11.0"; "3.x" ranges where the file does not tell
	NQ, NV, NU  int
	NA, NBody   int
	NJnt, NGeom int
	NMocap      int
	NHistory    int
	NPlastic    int
	Opt         Options
	Bodies      []Body
	Joints      []Joint
	Actuators   []Actuator
	Geoms       []Geom
	DofArmature []float64 // per dof
	DofDamping  []float64 // per dof
	DofInvW0    []float64 // dof_invweight0, per dof: 1/kg or 1/(kg m^2)
}

// Part is a run of columns of a state vector: one of mjtState's pieces.
type Part struct {
	Name     string // "time", "qpos", "qvel", "act", "history", "mocap_pos", ...
	From, To int    // columns [From, To)
}

// Open reads the model file with the given path.
func Open(name string) (*Model, error) { return nil, nil }

// NewReader reads the model that r holds.
func NewReader(r io.ReaderAt, size int64, name string) (*Model, error) { return nil, nil }

// Options is the part of mjOption that a diagnosis reads.
type Options struct {
	Timestep     float64 // s
	Iterations   int
	LSIterations int
	Solver       int // mjtSolver: 0 PGS, 1 CG, 2 Newton
	Integrator   int // mjtIntegrator: 0 Euler, 1 RK4, 2 implicit, 3 implicitfast
	Cone         int // mjtCone: 0 pyramidal, 1 elliptic
	Gravity      [3]float64
}

// Body is one body of the kinematic tree; body 0 is the world.
type Body struct {
	Name    string
	Parent  int
	Mass    float64    // kg
	Inertia [3]float64 // kg m^2, diagonal
}

// JointType is MuJoCo's mjtJoint.
type JointType int

// The types of joint.
const (
	FreeJoint JointType = iota
	BallJoint
	SlideJoint
	HingeJoint
)

// Joint is one joint with its place in qpos and qvel.
type Joint struct {
	Name            string
	Type            JointType
	QposAdr, DofAdr int
	Body            int
	Limited         bool
	Range           [2]float64 // rad or m
	Axis            [3]float64
}

// Actuator is one actuator.
type Actuator struct {
	Name         string
	GainPrm0     float64 // kp of a position actuator
	BiasPrm      [3]float64
	CtrlLimited  bool
	CtrlRange    [2]float64
	ForceLimited bool
	ForceRange   [2]float64
	Joint        int // driven joint, -1 when the transmission is no joint
}

// Geom is one geom.
type Geom struct {
	Name string
	Type int // mjtGeom
	Body int
}

// StateParts returns the parts of a state vector of the given mjtState bits, in
// the order of their bits. A spec of 0 means the physics state.
func (m *Model) StateParts(spec int) ([]Part, error) { return nil, nil }

// StateLabels returns one label per column of the parts: "qpos left_knee",
// "qvel root vz", "act index_muscle", "mocap_pos target x".
func (m *Model) StateLabels(parts []Part) []string { return nil }
