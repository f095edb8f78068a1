package mjb

// Model is what nanguard needs of a MuJoCo model. Meshes, textures and other
// large arrays are never read.
type Model struct {
	// Version is MuJoCo's, such as "3.11.0"; a range such as "3.3.1-3.3.2" where
	// the file does not tell which, "" when the model was read from MJCF.
	Version string

	NQ, NV, NU  int
	NA, NBody   int
	NJnt, NGeom int
	NMocap      int
	NHistory    int // columns of history; 0 before MuJoCo 3.5
	NPlastic    int // columns of plastic state; 0 before MuJoCo 4.0

	NEq, NUserData, NPluginState int

	Opt         Options
	Bodies      []Body
	Joints      []Joint
	Actuators   []Actuator
	Geoms       []Geom
	Sensors     []Sensor
	Qpos0       []float64 // the configuration that the joints' angles count from
	DofArmature []float64 // per dof
	DofDamping  []float64 // per dof
	DofFriction []float64 // dof_frictionloss, per dof
	DofInvW0    []float64 // dof_invweight0, per dof: 1/kg or 1/(kg m^2)

	// Warnings says what was assumed on the way.
	Warnings []error

	version version // 0 when unknown
}

// Options is the part of mjOption that a diagnosis reads.
type Options struct {
	Timestep     float64 // s
	Iterations   int
	LSIterations int
	Solver       int // mjtSolver: 0 PGS, 1 CG, 2 Newton
	Integrator   int // mjtIntegrator: 0 Euler, 1 RK4, 2 implicit, 3 implicitfast, 4 discrete
	Cone         int // mjtCone: 0 pyramidal, 1 elliptic
	Gravity      [3]float64
	ImpRatio     float64 // friction to normal constraint impedance
	DisableFlags int     // mjtDisableBit
	EnableFlags  int     // mjtEnableBit
}

// Body is one body of the kinematic tree; body 0 is the world.
type Body struct {
	Name    string
	Parent  int
	Mocap   int        // place in mocap_pos, -1 for a body that is no mocap body
	Mass    float64    // kg
	Inertia [3]float64 // kg m^2, diagonal
	Pos     [3]float64 // m, in the parent's frame
	Quat    [4]float64 // w x y z, in the parent's frame
	IPos    [3]float64 // m, the centre of mass in the body's frame
	IQuat   [4]float64 // w x y z, the principal axes of Inertia in the body's frame
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

// NQ returns how many positions a joint of this type has.
func (t JointType) NQ() int {
	switch t {
	case FreeJoint:
		return 7
	case BallJoint:
		return 4
	}
	return 1
}

// NV returns how many degrees of freedom a joint of this type has.
func (t JointType) NV() int {
	switch t {
	case FreeJoint:
		return 6
	case BallJoint:
		return 3
	}
	return 1
}

// String returns MJCF's word for the type.
func (t JointType) String() string {
	switch t {
	case FreeJoint:
		return "free"
	case BallJoint:
		return "ball"
	case SlideJoint:
		return "slide"
	case HingeJoint:
		return "hinge"
	}
	return "unknown"
}

// Joint is one joint with its place in qpos and qvel.
type Joint struct {
	Name            string
	Type            JointType
	QposAdr, DofAdr int
	Body            int
	Limited         bool
	Range           [2]float64 // rad or m
	Pos             [3]float64 // m, the anchor in the body's frame
	Axis            [3]float64
	Stiffness       float64 // N/m or Nm/rad
}

// Actuator is one actuator.
type Actuator struct {
	Name           string
	GainPrm0       float64 // kp of a position actuator
	BiasPrm        [3]float64
	FilterTime     float64 // time constant of a filter that is integrated explicitly (mjDYN_FILTER), s; 0 without
	Gear           float64 // first number of the gear: what scales force on a hinge or slide
	CtrlLimited    bool
	CtrlRange      [2]float64 // of its first control
	ForceLimited   bool
	ForceRange     [2]float64
	Joint          int // driven joint, -1 when the transmission is no joint
	CtrlAdr, NCtrl int // its columns of ctrl: one before MuJoCo 3.11
	ActAdr, NAct   int // its columns of act; ActAdr is -1 when it has none
}

// Geom is one geom.
type Geom struct {
	Name     string
	Type     int // mjtGeom
	Body     int
	Condim   int
	Size     [3]float64 // m, meaning by type
	Pos      [3]float64 // m, in the body's frame
	Quat     [4]float64 // w x y z, in the body's frame
	Friction [3]float64 // slide, spin (m), roll (m)
	SolRef   [2]float64
	SolImp   [5]float64
	ConType  int     // two geoms collide when one's ConType has a bit of the other's ConAffinity
	ConAff   int     // geom_conaffinity
	Margin   float64 // m, at which contacts begin
}
