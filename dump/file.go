package dump

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/nanguard/nanguard/internal/safetext"
	"github.com/nanguard/nanguard/mjb"
	"github.com/nanguard/nanguard/tensor"
)

// DefaultMaxBytes is the memory that reading one dump may take unless Options
// says otherwise.
const DefaultMaxBytes = 512 << 20

// Options bounds what Open may do.
type Options struct {
	// MaxBytes is the most memory that reading the file may take; 0 means
	// DefaultMaxBytes. Two thirds of it are for what is decoded: the arrays of
	// the file together, with its metadata and labels.
	MaxBytes int64
}

// StateField is the name under which a dump's states_step_* entries are read
// as one field: the simulator's state vector, T x rows x state_size.
const StateField = "state"

// File is an open dump of any producer. Arrays are decoded when they are first
// asked for and kept. A File is safe for concurrent use.
type File struct {
	name   string
	closer io.Closer // nil when the caller owns the reader

	// What Open found; not changed afterwards.
	format   string
	meta     *Metadata
	manifest *Manifest
	bad      []int // nan_env_ids
	folder   modelFile

	mu     sync.Mutex // guards reading: entries are read one at a time
	arc    *archive
	state  *stateSource // nil without states
	fields map[string]*source
	traces map[string]*traced
	labels map[string][]string
	closed bool

	warnMu   sync.Mutex
	warnings []error
	warned   map[string]bool

	modelOnce sync.Once
	model     *mjb.Model
	parts     []mjb.Part
	stateCols []string
}

// source is a field with frames: how they are read, and what that gave.
type source struct {
	spec   FieldSpec
	rows   int // 0 when that is not known before they are read
	load   func() (*Series, error)
	loaded bool
	series *Series
	err    error
}

// traced is what reading a trace gave.
type traced struct {
	trace *Trace
	err   error
}

// Close releases the file. Arrays that were handed out stay valid; what was not
// read before cannot be read any more.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.closer == nil {
		return nil
	}
	c := f.closer
	f.closer = nil
	return c.Close()
}

// Name returns the path that the file was opened with.
func (f *File) Name() string { return f.name }

// Manifest returns the manifest as it was read, or one made from the entries
// of another producer's file. What cannot be in a manifest that was read is
// mended, and Warnings says so. An env id below zero stands for a row of which
// the file does not say which env it is.
func (f *File) Manifest() *Manifest { return f.manifest }

// Metadata returns the decoded _metadata: its keys in order and its values as
// int64, float64, bool, string, []any, map[string]any or nil; an integer beyond
// int64 is a string of its digits. It is nil when the file has none.
func (f *File) Metadata() *Metadata { return f.meta }

// Format names the dialect of the file: "nanguard-1", "mjlab-v1", "mjlab-v2"
// (V2 and V3), "mjlab-v4", "ms_lab", "parahand", "luckylab" or "unilab".
func (f *File) Format() string { return f.format }

// Field returns the description of a field, StateField among them.
func (f *File) Field(name string) (FieldSpec, bool) {
	if s, ok := f.fields[name]; ok {
		return s.spec, true
	}
	for _, s := range f.manifest.Fields {
		if s.Name == name {
			return s, true
		}
	}
	return FieldSpec{}, false
}

// Frames returns the captured frames of a field. The error matches ErrNoEntry
// when the file has none of it.
func (f *File) Frames(field string) (*Series, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.fields[field]
	if !ok {
		return nil, &FormatError{f.name, entryOf(field), ErrNoEntry}
	}
	if !s.loaded {
		if f.closed {
			return nil, &FormatError{f.name, entryOf(field), os.ErrClosed}
		}
		s.series, s.err = f.load(s)
		s.loaded = true
		f.warnOf(s.err)
	}
	return s.series, s.err
}

// entryOf names the entry that a field is read from.
func entryOf(field string) string {
	if field == StateField {
		return statesPrefix + "*"
	}
	return "field." + field
}

// load reads the frames of a field and books the labels that their columns will
// have.
func (f *File) load(s *source) (*Series, error) {
	series, err := s.load()
	if err != nil {
		return nil, err
	}
	cost := int64(labelCost+len(s.spec.Name)) * int64(series.Values.Shape[2])
	if err := f.arc.budget.take(cost); err != nil {
		f.arc.budget.give(int64(len(series.Values.Data)))
		return nil, &FormatError{f.name, entryOf(s.spec.Name), fmt.Errorf("labels for %d columns: %w", series.Values.Shape[2], err)}
	}
	return series, nil
}

// Trace returns the summary of a field over all envs of the run, or an error
// that matches ErrNoEntry when the file has none.
func (f *File) Trace(field string) (*Trace, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.traces[field]
	if !ok {
		if f.closed {
			return nil, &FormatError{f.name, "trace." + field, os.ErrClosed}
		}
		t = &traced{}
		t.trace, t.err = f.loadTrace(field)
		f.traces[field] = t
		f.warnOf(t.err)
	}
	return t.trace, t.err
}

// Warnings returns what is doubtful about the file so far: reading an array
// may add to it.
func (f *File) Warnings() []error {
	f.warnMu.Lock()
	defer f.warnMu.Unlock()
	return slices.Clone(f.warnings)
}

// maxWarnings bounds what a broken file can say about itself.
const maxWarnings = 100

// warn notes doubts, each once. A nil error is none.
func (f *File) warn(doubts ...error) {
	f.warnMu.Lock()
	defer f.warnMu.Unlock()
	for _, err := range doubts {
		if err == nil || f.warned[err.Error()] || len(f.warnings) > maxWarnings {
			continue
		}
		f.warned[err.Error()] = true
		if len(f.warnings) == maxWarnings {
			err = fmt.Errorf("more than %d warnings; the rest is not shown", maxWarnings)
		}
		if safe := safetext.Line(err.Error()); safe != err.Error() {
			err = errors.New(safe)
		}
		f.warnings = append(f.warnings, err)
	}
}

// warnOf notes the error of one entry, whose file goes without saying there.
func (f *File) warnOf(err error) {
	var format *FormatError
	if err == nil || errors.Is(err, ErrNoEntry) {
		return
	}
	if errors.As(err, &format) {
		err = fmt.Errorf("entry %s: %w", quote(format.Entry), format.Err)
	}
	f.warn(err)
}

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
	// NonFinite names the fields that parahand's guard found non-finite, each
	// with the envs; nil in files of others.
	NonFinite map[string][]int
}

// Series is the captured frames of one field, oldest first.
type Series struct {
	Ticks  []int64      // guard's counter, or the step number in files without one
	Counts []int64      // the field's clock
	EnvIDs []int        // one per row, below zero where the file does not say; nil when the field is not per env
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

// Error returns the message: one line, fit for a terminal whatever the file
// calls itself.
func (e *FormatError) Error() string {
	file := `open dump "` + safetext.Line(e.File) + `": `
	if e.Entry == "" {
		return file + safetext.Line(e.Err.Error())
	}
	return file + "entry " + quote(e.Entry) + ": " + safetext.Line(e.Err.Error())
}

// Unwrap returns the reason.
func (e *FormatError) Unwrap() error { return e.Err }
