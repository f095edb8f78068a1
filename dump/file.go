package dump

import (
	"errors"
	"io"

	"github.com/nanguard/nanguard/mjb"
	"github.com/nanguard/nanguard/tensor"
)

// DefaultMaxBytes is the memory that reading one dump may take unless Options
// says otherwise.
const DefaultMaxBytes = 512 << 20

// Options bounds what Open may do.
type Options struct {
	// MaxBytes is the most memory that the arrays of the file may take
	// together once decoded; 0 means DefaultMaxBytes.
	MaxBytes int64
}

// StateField is the name under which a dump's states_step_* entries are read
// as one field: the simulator's state vector, T x rows x state_size.
const StateField = "state"

// File is an open dump of any producer. Arrays are decoded when they are first
// asked for and kept. A File is safe for concurrent use.
type File struct{}

// Open opens the dump with the given path. What is wrong with the file as a
// whole is an error; what is wrong with one entry is a warning, and the other
// entries stay usable.
func Open(name string) (*File, error) { return OpenWith(name, Options{}) }

// OpenWith is Open with limits of the caller's.
func OpenWith(name string, o Options) (*File, error) { return nil, errors.New("not yet") }

// NewReader opens the dump that r holds. The name stands in messages, and a
// model is looked for beside it; an empty name means no model.
func NewReader(r io.ReaderAt, size int64, name string, o Options) (*File, error) {
	return nil, errors.New("not yet")
}

// Close releases the file. Arrays that were handed out stay valid.
func (f *File) Close() error { return nil }

// Name returns the path that the file was opened with.
func (f *File) Name() string { return "" }

// Manifest returns the manifest as it was read, or one made from the entries
// of another producer's file.
func (f *File) Manifest() *Manifest { return nil }

// Metadata returns the decoded _metadata: its keys in order and its values as
// int64, float64, bool, string, []any, map[string]any or nil.
func (f *File) Metadata() *Metadata { return nil }

// Format names the dialect of the file: "nanguard-1", "mjlab-v1", "mjlab-v2"
// (V2 and V3), "mjlab-v4", "ms_lab", "parahand", "luckylab" or "unilab".
func (f *File) Format() string { return "" }

// States returns where the rows of StateField come from, or nil when the file
// holds no simulator states.
func (f *File) States() *StateInfo { return nil }

// Field returns the description of a field, StateField among them.
func (f *File) Field(name string) (FieldSpec, bool) { return FieldSpec{}, false }

// Frames returns the captured frames of a field.
func (f *File) Frames(field string) (*Series, error) { return nil, nil }

// Trace returns the summary of a field over all envs of the run, or an error
// that matches ErrNoEntry when the file has none.
func (f *File) Trace(field string) (*Trace, error) { return nil, nil }

// Columns returns one label per column of a field: from the manifest, from the
// model beside the dump, or made from the index ("qpos[7]", "state[7]").
func (f *File) Columns(field string) []string { return nil }

// Model returns the MuJoCo model beside the dump, or nil; Warnings says why
// there is none.
func (f *File) Model() *mjb.Model { return nil }

// ModelPath returns the path of the model beside the dump, MJCF included, or
// "" when there is none.
func (f *File) ModelPath() string { return "" }

// Warnings returns what is doubtful about the file so far: reading an array
// may add to it.
func (f *File) Warnings() []error { return nil }

// StateInfo says what StateField holds.
type StateInfo struct {
	Steps []int64 // ascending step numbers, one per frame
	Size  int     // columns
	Spec  int     // MuJoCo's state_spec bits, 0 when the file has none
	Parts []mjb.Part
	// BeforeStep is true when a row is the state before the step of its number
	// (mjlab and its relatives), so that the step that failed is not shown.
	BeforeStep bool
	// CulpritsMissing lists bad envs whose rows are not in the file.
	CulpritsMissing []int
}

// Series is the captured frames of one field, oldest first.
type Series struct {
	Ticks  []int64      // guard's counter, or the step number in files without one
	Counts []int64      // the field's clock
	EnvIDs []int        // one per row; nil when the field is not per env
	Values tensor.Array // T x rows x cols; rows is 1 when the field is not per env
}

// Trace is a summary over all envs, one entry per check.
type Trace struct {
	Ticks, Counts                  []int64
	NaN, PosInf, NegInf            []float64 // counts of elements
	AbsMax, ArgMax, Min, Max, Mean []float64 // finite values only; ArgMax is a row
}

// Metadata is the decoded dict of an mjlab-style dump.
type Metadata struct {
	Keys   []string
	Values map[string]any
}

// ErrNoEntry is matched by errors for entries that a file does not hold.
var ErrNoEntry = errors.New("no such entry")

// FormatError reports what is wrong with a dump: the file, the entry ("" for
// the file as a whole) and the reason.
type FormatError struct {
	File, Entry string
	Err         error
}

// Error returns the one-line message.
func (e *FormatError) Error() string {
	if e.Entry == "" {
		return "open dump " + e.File + ": " + e.Err.Error()
	}
	return "open dump " + e.File + ": entry " + e.Entry + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Err }
