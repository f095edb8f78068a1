package dump

import "github.com/nanguard/nanguard/tensor"

// Draft is a dump before it is written.
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
	Steps  []int64      // ascending
	Values tensor.Array // Float64, T x rows x size
}

// FieldDraft holds the frames and the trace of one field of the manifest.
type FieldDraft struct {
	Name   string
	Frames *Series // nil when no frame was captured
	Trace  *Trace  // nil when no trace was kept
}

// MetaDraft holds the members of _metadata that the manifest does not give.
type MetaDraft struct {
	BadEnvIDs     []int // every bad env of the run, ascending
	DetectionStep int64
	Timestamp     string // YYYYMMDD_HHMMSS, local time
	Note          string
}

// WriteFile writes d into the folder dir under the name that the format
// prescribes and returns the path. The file appears whole or not at all.
func WriteFile(dir string, d *Draft) (path string, err error) { return "", nil }
