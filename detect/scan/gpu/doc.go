// Package gpu scans and records fields that lie in the memory of a GPU, and
// never makes anybody wait for it.
//
// An [Engine] is made for a set of fields. [Engine.Check] enqueues one
// launch on the caller's stream that scans the fields of this check, keeps
// their frames in rings on the device and moves the clocks on; it may be
// called while the stream is being captured, and then happens at each replay
// of the graph. [Engine.Poll] reads what the device has said so far out of
// memory that both share. Once the engine is frozen, by a trip or by
// [Engine.Freeze], nothing is written any more and [Engine.Snapshot] fetches,
// on a stream of its own, whatever a dump needs. [Engine.Rearm] starts over, and
// [Engine.Resume] goes on after a freeze. [Engine.AskTick] asks for the tick
// and does not wait for the answer. Fields that show themselves late can be
// added at any time ([Engine.Add]).
//
// # Lifetimes first
//
// A check reads its arguments when the stream comes to it. They must live
// until then: memory that is freed or used again in stream order, as the
// allocators of torch and Warp do it, is safe. What a captured check reads
// must live as long as the graph.
//
// The engine's own memory is allocated by New, in one piece, and further pieces by
// Add; it stays where it is until Close gives it back, so that graphs may hold its
// addresses. Destroy graphs that hold checks before Close.
//
// # Order
//
// Checks count in the order in which the device runs them. Those on one stream
// are ordered by it. When the stream changes, the engine makes the new one
// wait, on the device, for the check before. It cannot do that for a graph:
// whoever replays one has to order it with checks elsewhere, which he does
// anyway if they read what the graph writes. Who has nothing that is in order with
// the checks, since they are all in graphs, asks ([Engine.AskRearm]), and the next
// check does it.
//
// All is for one goroutine at a time, but Poll, which is for any.
package gpu
