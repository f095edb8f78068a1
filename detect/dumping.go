package detect

import (
	"fmt"
	"regexp"

	"github.com/nanguard/nanguard/dump"
)

// phase is what a guard is doing.
type phase int

// The phases of a guard. A guard records until it trips, records what is wanted
// after the trip and freezes; the dump is written from the frozen frames, and
// then the guard is armed again if it may write another.
const (
	recording     phase = iota
	recordingPost       // tripped, and frames after the trip are wanted
	frozen              // tripped: the frames are complete and no dump has them yet
	writingDump         // a goroutine reads the frames
	spent               // tripped, and there is nothing more to write
	closed
)

// records reports whether checks capture.
func (p phase) records() bool { return p == recording || p == recordingPost }

// startFrozenDump starts the dump of a trip whose frames are complete.
func (g *Guard) startFrozenDump() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase == frozen {
		g.startDump()
	}
}

// startDump freezes the guard and writes the dump of its trip on a goroutine.
func (g *Guard) startDump() {
	if g.dumps >= g.cfg.MaxDumps {
		g.phase = spent
		g.conclude("", ErrNoDumpsLeft)
		return
	}
	d := g.head("", nil)
	done := make(chan struct{})
	g.phase, g.writing = writingDump, done
	go func() {
		defer close(done)
		path, err := g.write(d)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.writing = nil
		g.written(path, err)
	}()
}

// write completes and writes a dump. It reads frozen frames only.
func (g *Guard) write(d *dump.Draft) (path string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write dump into %q: internal error: %v", g.cfg.Dir, r)
		}
	}()
	g.body(d)
	return dump.WriteFile(g.cfg.Dir, d)
}

// written takes note of a dump. The frames of one that could not be written
// stay, so that Dump can try again.
func (g *Guard) written(path string, err error) {
	g.conclude(path, err)
	if path == "" {
		g.phase = frozen
		return
	}
	g.count(path)
	g.phase = spent
	if g.dumps < g.cfg.MaxDumps {
		g.rearm()
	}
}

// count takes note that a dump is on disk.
func (g *Guard) count(path string) {
	g.dumps++
	g.path = path
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
		g.verdict.Store(&Verdict{Trip: g.trip.trip, Path: path, Error: err, Done: true})
	}
}

// rearm makes the guard ready for the next trip: frames, first bad values and
// culprits are forgotten, so that the next dump tells one story; traces, events
// and facts stay.
func (g *Guard) rearm() {
	for _, f := range g.fields {
		f.ring.clear()
		f.first = nil
	}
	g.badEnvs.clear()
	g.trip, g.phase = nil, recording
}

// Dump writes what the guard holds now, whether or not anything tripped, and
// waits for the file. The reason becomes a note event and, when it reads like an
// exception ("RuntimeError: ..."), what the run ended with; suspects are envs
// that the caller blames.
//
// When MaxDumps dumps are written it returns the path of the last one and
// ErrNoDumpsLeft. A path together with any other error is a dump beside which
// something is missing (see dump.WriteFile).
func (g *Guard) Dump(reason string, suspects ...int) (path string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.awaitDump()
	if g.phase == closed {
		return "", &MisuseError{Call: "dump", Err: ErrClosed}
	}
	if g.dumps >= g.cfg.MaxDumps {
		return g.path, fmt.Errorf("dump: %w: %d written", ErrNoDumpsLeft, g.dumps)
	}
	for _, e := range suspects {
		if e < 0 || e >= g.cfg.NumEnvs {
			return "", misuse("dump", "", "suspect env %d is out of 0..%d", e, g.cfg.NumEnvs-1)
		}
	}
	return g.dumpNow(reason, suspects)
}

// dumpNow writes a dump on the goroutine of the caller, who holds the lock.
func (g *Guard) dumpNow(reason string, blamed []int) (path string, err error) {
	path, err = g.write(g.head(reason, blamed))
	if g.trip != nil {
		g.written(path, err)
	} else if path != "" {
		g.count(path)
	}
	return path, err
}

// exceptionText matches what a language says when a program ends badly.
var exceptionText = regexp.MustCompile(`^([\w.]*(Error|Exception|Interrupt|Exit)\b|panic: |signal: |Traceback )`)
