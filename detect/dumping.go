package detect

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/nanguard/nanguard/dump"
)

// phase is what a guard is doing.
type phase int

// The phases of a guard. A guard records until it trips, records what is wanted
// after the trip and freezes; the dump is written from the frozen frames, and
// then the guard rests until it is armed again, if it may write another.
const (
	recording     phase = iota
	recordingPost       // tripped, and frames after the trip are wanted
	frozen              // tripped: the frames are complete and their dump is to begin
	writingDump         // a goroutine reads the frames
	unwritten           // tripped: the dump could not be written, the frames are there
	resting             // a dump was written; the next check may arm the guard again
	spent               // tripped, and there is nothing more to write
	closed
)

// startDump freezes the guard and writes the dump of its trip on a goroutine.
func (g *Guard) startDump() {
	if g.dumps >= g.cfg.MaxDumps {
		g.phase = spent
		g.conclude("", ErrNoDumpsLeft)
		return
	}
	if err := g.freeze(); err != nil {
		g.events.add(dump.Event{Tick: g.now().tick, Kind: dump.EventWarning, Detail: err.Error()})
	}
	d, done := g.begin("", nil), make(chan struct{})
	g.phase, g.writing = writingDump, done
	go func() {
		defer close(done)
		path, err := d.write()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.writing = nil
		g.written(path, err)
	}()
}

// freeze ends the recording.
func (g *Guard) freeze() error {
	if g.rec == nil {
		return nil
	}
	return g.rec.freeze()
}

// written takes note of a dump. The frames of one that could not be written
// stay, so that Dump can try again.
func (g *Guard) written(path string, err error) {
	g.protect(g.look) // a trip may have come before the freeze of a dump that was asked for
	g.conclude(path, err)
	if path != "" {
		g.dumps++
		g.path = path
	}
	switch {
	case g.trip == nil:
		g.phase, g.rested = resting, time.Time{}
	case path == "":
		g.phase = unwritten
	case g.dumps < g.cfg.MaxDumps:
		g.phase, g.rested = resting, g.cfg.Now().Add(g.cfg.Cooldown)
	default:
		g.phase = spent
	}
	g.protect(g.rearmInGraphs)
}

// awaitDump waits for the dump under way. The caller holds the lock, which is
// let go meanwhile.
func (g *Guard) awaitDump() {
	for g.writing != nil {
		writing := g.writing
		g.mu.Unlock()
		<-writing
		g.mu.Lock()
	}
}

// conclude completes the verdict of the trip.
func (g *Guard) conclude(path string, err error) {
	if g.trip != nil {
		g.verdict.Store(&Verdict{Trip: g.trip.trip, Number: g.trip.number, Path: path, Error: err, Done: true})
	}
}

// rearm makes the guard ready for the next trip: frames, first bad values and
// culprits are forgotten, so that the next dump tells one story; traces, events
// and facts stay. After a dump that was asked for it goes on.
func (g *Guard) rearm(stream uintptr) error {
	if err := g.rec.rearm(stream, g.trip != nil); err != nil {
		return err
	}
	g.trip, g.phase = nil, recording
	return nil
}

// rearmInGraphs is what ready does, for a loop whose checks are all in graphs, so
// that none comes to arm a guard that has rested.
func (g *Guard) rearmInGraphs() {
	if g.phase != resting || !g.inGraph || g.broken != nil || !g.hasRested() {
		return
	}
	ok, err := g.rec.rearmInGraphs(g.trip != nil)
	switch {
	case err != nil:
		g.giveUp(err) //nolint:errcheck // there is no check to return it from
	case ok:
		g.trip, g.phase = nil, recording
	}
}

// hasRested reports whether a resting guard may be armed again.
func (g *Guard) hasRested() bool { return g.rested.IsZero() || !g.cfg.Now().Before(g.rested) }

// Dump writes what the guard holds now, whether or not anything tripped, and
// waits for the file. The reason becomes a note event and, when it reads like an
// exception ("RuntimeError: ..."), what the run ended with; suspects are envs
// that the caller blames. A number that is no env is left out, and a warning event
// of the dump says so.
//
// Checks that are made meanwhile are counted and not recorded. On a GPU Dump
// waits for the checks under way; of a frame that a graph records just then only a
// part may be in the dump.
//
// When MaxDumps dumps are written it returns the path of the last one and
// ErrNoDumpsLeft, and while the guard rests after a trip that path and
// ErrNothingNew. A path together with any other error is a dump in which or
// beside which something is missing (see dump.WriteFile).
func (g *Guard) Dump(reason string, suspects ...int) (path string, err error) {
	g.settle()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.awaitDump()
	g.protect(g.look)
	switch {
	case g.phase == closed:
		return "", &MisuseError{Call: "dump", Err: ErrClosed}
	case g.dumps >= g.cfg.MaxDumps:
		return g.path, fmt.Errorf("dump: %w: %d written", ErrNoDumpsLeft, g.dumps)
	case g.phase == resting && g.trip != nil, g.phase == recording && g.rec != nil && g.rec.empty():
		return g.path, fmt.Errorf("dump: %w", ErrNothingNew)
	}
	return g.dumpNow(reason, suspects)
}

// dumpNow writes a dump on the goroutine of the caller, who holds the lock. It
// is let go meanwhile.
func (g *Guard) dumpNow(reason string, blamed []int) (path string, err error) {
	if err := g.freeze(); err != nil && g.broken == nil && !errors.Is(err, ErrContextLost) {
		return "", fmt.Errorf("dump: %w", err)
	}
	d, done := g.begin(reason, blamed), make(chan struct{})
	g.phase, g.writing = writingDump, done
	g.mu.Unlock()
	path, err = d.write()
	g.mu.Lock()
	g.writing = nil
	g.written(path, err)
	close(done)
	return path, err
}

// exceptionText matches what a language says when a program ends badly.
var exceptionText = regexp.MustCompile(`^([\w.]*(Error|Exception|Interrupt|Exit)\b|panic: |signal: |Traceback )`)
