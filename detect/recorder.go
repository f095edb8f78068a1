package detect

import "github.com/nanguard/nanguard/dump"

// recorder keeps frames and traces of the guard's fields and sees values go
// bad. [host] has them in memory of the host and knows at once; [device] has
// them on a GPU and knows when the GPU has come to it.
//
// All methods but settle and story are called with the guard's lock held. Of those
// close waits for the GPU and, once graphs hold checks, freeze does.
type recorder interface {
	// capturing reports whether work on the stream becomes part of a graph.
	capturing(stream uintptr) (bool, error)
	// check counts a check and captures its fields, each given once. Once the
	// recorder is frozen it only counts.
	check(r request, refs []FieldRef) error
	// poll says whether it tripped since it was armed, and whether it is frozen.
	poll() (tripped, frozen bool)
	// trip is that of a tripped recorder.
	trip() dump.Trip
	// now is the time by the checks that are known to have been made.
	now() moment
	// later returns what tells the tick of now once it is known, which is so when
	// story has returned; nil where now is all that can be known.
	later() func() (tick int64, ok bool)
	// frames returns how many frames the ring of a field can hold.
	frames(id int) int
	// freeze ends the recording, if a trip has not done so.
	freeze() error
	// rearm starts over after a trip: rings are empty and nothing was bad. Where
	// there was no trip, it goes on.
	rearm(stream uintptr, tripped bool) error
	// rearmInGraphs is rearm of a frozen recorder where graphs make the checks: the
	// next one does it. ok is false where there are none.
	rearmInGraphs(tripped bool) (ok bool, err error)
	// empty reports whether nothing was recorded since rearm.
	empty() bool
	// settle waits for the checks under way.
	settle() error
	// story returns what a frozen recorder holds; it may wait for the GPU to
	// come to that, and stays true until rearm.
	story() (*story, error)
	// close gives the memory back.
	close() error
}

// request is one check.
type request struct {
	stream    uintptr
	clock     int // index in clocks
	advance   int64
	capturing bool // into a graph, which will make the check each time it runs
}

// moment is a point in the guard's time.
type moment struct {
	tick   int64
	counts [len(clocks)]int64
}

// story is what a frozen recorder holds, over all envs of the run.
type story struct {
	moment
	trip    *dump.Trip // nil when there was none
	fields  []told     // by FieldID
	badEnvs []badEnv   // in the order in which they went bad
	// frames fetches the frames of some rows of a field.
	frames func(id int, rows []int) (*dump.Series, error)
}

// told is what a story says of one field.
type told struct {
	ticks []int64 // of the frames held
	trace *dump.Trace
	first *dump.FirstBad
}

// badEnv is an env that went bad.
type badEnv struct {
	env  int
	tick int64 // of the first bad value
}

// held returns what the story says of a field. Fields that were bound since
// have no part in it.
func (s *story) held(id int) told {
	if id >= len(s.fields) {
		return told{}
	}
	return s.fields[id]
}

// badEnvsBy returns the envs that were bad at a tick, in their order.
func (s *story) badEnvsBy(tick int64) []int {
	var envs []int
	for _, b := range s.badEnvs {
		if b.tick <= tick {
			envs = append(envs, b.env)
		}
	}
	return envs
}
