package dump

import "github.com/nanguard/nanguard/tensor"

// Draft is a dump before it is written.
//
// Of the manifest, Format and Version are set by the writer, and Producer when
// it is empty. EnvIDs are the rows of every per-env array; every field that has
// frames or a trace must be described in Fields. Floats anywhere in Events and
// Facts may be non-finite: the file then has the strings "NaN", "Infinity" and
// "-Infinity".
type Draft struct {
	Manifest Manifest
	States   *StateDraft // nil when qpos and qvel were not bound
	Fields   []FieldDraft
	Meta     MetaDraft
	Model    string // path of a model file to copy beside the dump, or ""
}

// StateDraft holds the simulator's state vectors before each substep.
type StateDraft struct {
	Spec   int          // MuJoCo's state_spec bits
	Steps  []int64      // ascending, never negative
	Values tensor.Array // Float64, T x rows x size
}

// FieldDraft holds the frames and the trace of one field of the manifest. The
// frames of a field that is not per env have one row.
type FieldDraft struct {
	Name   string
	Frames *Series // nil when no frame was captured; its EnvIDs are not looked at
	Trace  *Trace  // nil when no trace was kept
}

// MetaDraft holds the members of _metadata that the manifest does not give.
type MetaDraft struct {
	BadEnvIDs     []int // every bad env of the run, ascending
	DetectionStep int64
	Timestamp     string // YYYYMMDD_HHMMSS, local time
	Note          string
}
