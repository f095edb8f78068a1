// Package cuda calls the CUDA driver that comes with a machine's graphics
// driver: libcuda.so.1, loaded at run time. Nothing of CUDA is linked, no
// toolkit is needed, and a program that uses this package starts everywhere.
//
// # Lifetimes first
//
// The context of a [Context] is the device's primary one, which torch, Warp
// and JAX use too: streams and addresses of theirs are good here. Whoever
// frees memory, destroys a stream or resets the device while work that was
// enqueued here still needs it breaks that work; this package cannot see it
// coming, only report the error of the call after.
//
// # Threads
//
// A context is current on a thread, a goroutine runs on any. Each method
// therefore makes its context current on the thread that it runs on, and takes
// it off again if another one was current before. Methods may be called from
// several goroutines, except that a [Launch] is for one at a time.
//
// # When there is no GPU
//
// [Open] and [Driver.Primary] return an error that matches [ErrUnsupported]
// and is an [*UnsupportedError], which says what is missing and what would
// help. Errors of the driver are [*Error]; those after which the context is
// of no use match [ErrContextLost].
//
// # Adding a call
//
// Name its symbol in symbols.go, with the version suffix that cuda.h's macros
// give it, and write one typed line in calls.go. All calls pass Driver.call,
// so that tests can put another [Library] below: cudatest has one that plays a
// GPU on the host.
package cuda
