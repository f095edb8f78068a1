package gpu

import (
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/internal/cuda"
)

// Repeat is what it takes to make the latest check again without the engine:
// launch Function with Blocks of Threads and Params as its one parameter, on the
// same stream, and, unless that is the default stream, record Mark behind it. In
// Params only the addresses of the arguments may differ, each by a multiple of 16.
type Repeat struct {
	Calls           cuda.Calls
	Function        cuda.Function
	Blocks, Threads int
	Params          []byte // valid until the next check
	Address, Step   int    // where in Params the address of the first argument lies, and how far from it the next one
	Mark            cuda.Event
}

// Repeat returns the latest check for repetition; ok is false for one that took
// several launches.
func (e *Engine) Repeat() (r Repeat, ok bool) {
	c := &e.checks
	return Repeat{
		Calls: e.ctx.Calls(), Function: e.kernels.check, Blocks: c.run.Blocks(), Threads: kernel.Threads,
		Params:  bytesOf(&c.launch),
		Address: int(unsafe.Offsetof(c.launch.From) + unsafe.Offsetof(c.launch.From[0].Base)), Step: int(unsafe.Sizeof(c.launch.From[0])),
		Mark: e.order.event,
	}, !e.closed && c.launch.Call.Part == 0
}

// Stream returns the stream of the latest work outside of graphs. Work on
// another one has to be put in order first.
func (e *Engine) Stream() (s cuda.Stream, begun bool) { return e.order.last, e.order.begun }

// Mark records the mark behind the latest check once more, for who could not.
func (e *Engine) Mark() error { return e.order.after(e.order.last) }

// News returns a number in memory that the device shares with the host. As long
// as it is what Verdict.Seq was, Poll has nothing new.
func (e *Engine) News() *uint32 { return &(*kernel.Verdict)(e.said.Base).Seq }
