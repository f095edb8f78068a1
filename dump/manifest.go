package dump

import (
	"fmt"
	"time"
)

// Stage is the place in the training loop where a field is produced.
type Stage string

// The stages in causal order within one env step. Fields of StageMonitor (a
// KL estimate, a logged ratio: nothing reads them back) are recorded but never
// take the trip.
const (
	StageModel      Stage = "model"
	StageSolver     Stage = "solver"
	StagePhysics    Stage = "physics"
	StageSensor     Stage = "sensor"
	StageObs        Stage = "obs"
	StageNormalizer Stage = "normalizer"
	StagePolicy     Stage = "policy"
	StageReward     Stage = "reward"
	StageDone       Stage = "done"
	StageValue      Stage = "value"
	StageLoss       Stage = "loss"
	StageGrad       Stage = "grad"
	StageParam      Stage = "param"
	StageMonitor    Stage = "monitor"
)

// Clock is what counts the frames of a field.
type Clock string

// The clocks of a training loop.
const (
	ClockSubstep   Clock = "substep"   // one physics step
	ClockStep      Clock = "step"      // one env step
	ClockMinibatch Clock = "minibatch" // one gradient step
	ClockUpdate    Clock = "update"    // one learner iteration
)

// Role says why a row is in the file.
type Role string

// The roles of a row: bad, named by whoever asked for the dump (or by a
// precursor), or healthy at the trip.
const (
	RoleCulprit Role = "culprit"
	RoleSuspect Role = "suspect"
	RoleControl Role = "control"
)

// Manifest is the JSON document of a dump's _nanguard entry. For a dump of
// another producer Open makes one from what the file holds.
type Manifest struct {
	Format   string          `json:"format"`
	Version  int             `json:"version"`
	Producer Producer        `json:"producer"`
	Run      Run             `json:"run"`
	NumEnvs  int             `json:"num_envs"`
	EnvIDs   []int           `json:"env_ids"`
	EnvRoles []Role          `json:"env_roles"`
	Clocks   map[Clock]int64 `json:"clocks"`
	Fields   []FieldSpec     `json:"fields"`
	Trip     *Trip           `json:"trip"`
	FirstBad []FirstBad      `json:"first_bad"`
	Events   []Event         `json:"events"`
	Facts    map[string]any  `json:"facts"`
}

// Producer names the program that wrote a dump.
type Producer struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Run describes the process that was watched; every member is optional.
type Run struct {
	Command          []string   `json:"command,omitempty"`
	Framework        string     `json:"framework,omitempty"`
	FrameworkVersion string     `json:"framework_version,omitempty"`
	Host             string     `json:"host,omitempty"`
	PID              int        `json:"pid,omitempty"`
	Rank             int        `json:"rank,omitempty"`
	WorldSize        int        `json:"world_size,omitempty"`
	Seed             *int64     `json:"seed,omitempty"`
	GPU              string     `json:"gpu,omitempty"`
	Started          *time.Time `json:"started,omitempty"`
	Git              *Git       `json:"git,omitempty"`
	Exception        string     `json:"exception,omitempty"`
}

// Git is the state of the work tree that ran.
type Git struct {
	Commit string `json:"commit"`
	Branch string `json:"branch"`
	Dirty  bool   `json:"dirty"`
}

// FieldSpec describes one watched array.
type FieldSpec struct {
	Name   string   `json:"name"`
	Stage  Stage    `json:"stage"`
	Clock  Clock    `json:"clock"`
	Order  float64  `json:"order"` // place in the loop, ascending is earlier
	DType  string   `json:"dtype"`
	Cols   []string `json:"cols"` // labels, one per column, or nil
	Unit   string   `json:"unit"`
	PerEnv bool     `json:"per_env"` // rows are envs; otherwise one row for the run
}

// Trip is the first non-finite value over all fields and envs: the smallest
// (tick, field order, row, column). Env is nil when the field is not per env.
type Trip struct {
	Tick  int64  `json:"tick"`
	Clock Clock  `json:"clock"`
	Count int64  `json:"count"`
	Field string `json:"field"`
	Env   *int   `json:"env"`
	Col   int    `json:"col"`
	Class string `json:"class"` // "nan", "posinf" or "neginf"
}

// String says the trip in words: "qvel, env 29, column 3: nan at tick 44
// (substep 30)".
func (t Trip) String() string {
	where := t.Field
	if t.Env != nil {
		where += fmt.Sprintf(", env %d", *t.Env)
	}
	return fmt.Sprintf("%s, column %d: %s at tick %d (%s %d)", where, t.Col, t.Class, t.Tick, t.Clock, t.Count)
}

// FirstBad is the first non-finite value of one field, over all envs of the
// run. EnvsBad counts the envs that were bad in that frame.
type FirstBad struct {
	Field   string `json:"field"`
	Tick    int64  `json:"tick"`
	Clock   Clock  `json:"clock"`
	Count   int64  `json:"count"`
	Env     *int   `json:"env"`
	Col     int    `json:"col"`
	Class   string `json:"class"`
	EnvsBad int    `json:"envs_bad"`
}

// Event is something that happened to the run between two frames.
type Event struct {
	Tick   int64  `json:"tick"`
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"`
	Envs   []int  `json:"envs,omitempty"`  // only those among env_ids
	Count  int    `json:"count,omitempty"` // how many envs of the run it touched
	Detail any    `json:"detail,omitempty"`
}

// The kinds of event that readers know; others are kept and shown.
const (
	EventReset            = "reset"
	EventEpisodeStart     = "episode_start"
	EventGraphCapture     = "graph_capture"
	EventGraphReplay      = "graph_replay"
	EventBufferMoved      = "buffer_moved"
	EventDR               = "dr"
	EventCapacity         = "capacity"
	EventWarning          = "warning"
	EventAMP              = "amp"
	EventCheckpointLoaded = "checkpoint_loaded"
	EventCurriculum       = "curriculum"
	EventNaNReplaced      = "nan_replaced"
	EventNote             = "note"
)
