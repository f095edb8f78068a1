package detect

import (
	"time"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Config says what a Guard watches and keeps. Start from DefaultConfig; a zero
// Dir, RingBytes, TraceLen, MaxFrames, MaxEnvs or MaxDumps means the default.
type Config struct {
	NumEnvs int    // rows of every per-env field; required
	Dir     string // folder of the dumps, made when it is first needed; default "nan_dumps"
	Model   string // path of the simulator's model file, copied beside the dump; "" for none

	RingBytes   int64 // memory for the frames of all fields; default 512 MiB. On a GPU an eighth of it is kept for fields bound late
	MaxFrames   int   // frames of one field at most, however much memory is left; default 1,000
	TraceLen    int   // checks that the trace of a field reaches back; default 10,000
	PostFrames  int   // frames of the tripping clock to record after the trip; default 0
	MaxEnvs     int   // culprits in the dump; default 5
	ControlEnvs int   // healthy rows in the dump, for comparison; default 2
	MaxDumps    int   // dumps of one run, asked-for ones included; default 1. An env that stays bad trips again once a dump is written

	// Cooldown is how long a guard rests after a dump of a trip before it is armed
	// again: what goes on failing would fill the disk. It is armed at the first
	// check after that, and a tenth of a second after it where all checks are in
	// graphs; dumps that are asked for start no rest.
	Cooldown time.Duration

	StateSpec int      // mjtState bits of the states_step entries; 0 when unknown
	Run       dump.Run // who runs; goes into the dump as it stands

	// OnTrip is called once per trip, on the goroutine that calls Check, before
	// the dump is written. A guard of a device knows of a trip some time after the
	// check: then the next Check, Poll, Wait or Close calls it, and the dump may be
	// under way. Several trips that came to pass since are told one after the other,
	// in their order. It must not call the Guard; a panic of it passes on to the caller.
	OnTrip func(dump.Trip)
	// Repeater makes checks again without the guard; nil for none. Nothing calls it
	// once Close has returned.
	Repeater Repeater
	// Now is the clock of file names and time stamps; nil means time.Now.
	Now func() time.Time
}

// DefaultConfig returns the defaults that Config's members name.
func DefaultConfig() Config {
	return Config{
		Dir: "nan_dumps", RingBytes: 512 << 20, MaxFrames: 1000, TraceLen: 10_000,
		MaxEnvs: 5, ControlEnvs: 2, MaxDumps: 1,
	}
}

// FieldOptions says what a field is.
type FieldOptions struct {
	Stage dump.Stage // default: from the name ("qvel" is physics, "reward.x" is reward, ...); required when the name is not one of the dump format
	Clock dump.Clock // default: from the stage
	Order float64    // place in the loop; 0 means: from the name, then from the order of binding
	Cols  []string   // one label per column, or nil
	Unit  string
	// Shared marks a field that has one row for the whole run (loss, normalizer,
	// parameters) instead of one per env.
	Shared bool
	// Limit and Growth trip the guard on values that are finite, so that a
	// divergence is caught before it is NaN. Such a trip has the class ClassLimit
	// or ClassGrowth in the Verdict; in the dump it is a warning event, its env
	// has the role suspect and the manifest has no trip. When a value of the same
	// check is not finite, that is the trip.
	Limit  float64 // largest absolute value that is no trip; 0: no limit
	Growth Growth
}

// FieldID names a bound field of one Guard.
type FieldID int

// FieldRef gives a bound field the address that it has in this call, for loops
// that make a fresh array each step.
type FieldRef struct {
	ID  FieldID
	Ref tensor.Ref
}

// Verdict is what Poll knows about the latest trip.
type Verdict struct {
	Trip   dump.Trip
	Number int    // of the trip in the run, from 1: a Poll that finds it two higher has missed one
	Path   string // of the dump once it is written, else ""
	Error  error  // of writing the dump; with a Path, of what belongs beside it
	Done   bool   // the dump is written, or will never be unless Dump is called
}
