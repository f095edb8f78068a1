// Package detect is the guard in the training loop: it sees every element of
// every bound field at every check, remembers the last frames of all envs, and
// writes a dump when a value is not finite.
//
//	guard, err := detect.New(cfg)                        // cfg from DefaultConfig, with NumEnvs
//	qvel, err := guard.Bind("qvel", tensor.RefOf(v, envs, nv), detect.FieldOptions{})
//	obs, err := guard.Bind("obs.policy", shape, detect.FieldOptions{})
//	for ... {
//		step()
//		guard.Check(dump.ClockSubstep)               // every field of the clock, where it was bound
//		guard.Check(dump.ClockStep, detect.FieldRef{ID: obs, Ref: now}) // those given, where they are now
//		if v, tripped := guard.Poll(); tripped && v.Done { ... }
//	}
//	guard.Close()
//
// # What a check does
//
// Each Check is one tick, Check advances its clock first, CheckSame leaves the
// clock. Every field of the check is copied into its ring and the copy is
// summarised into the field's trace: counts of NaN and infinities, extremes and
// mean over all envs. After the first check nothing is allocated, but for fields
// that are bound later.
//
// # The trip
//
// The first bad value trips the guard: the smallest (tick, order, place in the
// order of binding, row, column) among all fields but those of stage monitor,
// or, where all are finite, of the values above a field's Limit or Growth.
// Checks of PostFrames more counts of the tripping clock are recorded, then the
// recorder freezes and later checks only count. The rows of the dump are those
// of the time of the trip: culprits in the order in which they went bad, then
// healthy envs spread over the range, those that were not reset lately first.
//
// The dump is written on a goroutine of its own; Poll tells when it is done.
// When MaxDumps allows another, the first check after the Cooldown arms the
// guard again with empty rings, and first bad values and culprits forgotten, so
// that each dump tells one story; traces, events and facts go on. A dump that
// could not be written is not counted, and the frames stay: Dump and Close try
// once more.
//
// # On a GPU
//
// The first field in memory of a GPU (tensor.CUDA) makes the guard one of that
// GPU. CheckOn enqueues a check on the caller's stream, nobody waits for it, and
// all that is said above happens on the device, where time is counted too. So a
// check may be captured into a graph and counts each time that the graph runs.
// What the device has seen is known to a later Check or Poll, and without any to
// a goroutine that looks ten times a second: none of them asks the device, they
// read memory that both share.
//
// Fields in memory of the host (losses, counters) take part: a check copies them
// to memory that the device can read. A graph cannot have them.
//
// What differs from the host: late fields do not take frames from the others but
// share an eighth of the memory, and one that is first seen while a graph is being
// captured is refused. Where all checks are in graphs, the one that arms the guard
// again is not recorded itself, and who calls Dump while they run may get a last
// frame of which only a part was recorded. When the device is lost, Check says so
// once for all, the loop may go on, and a dump holds what the host knows, such as a
// trip that the device told before.
//
// # Graphs and addresses
//
// A guard notes by itself what the graphs that hold its checks read. For other
// graphs, note a graph_capture event with the detail {graph, reads: {field:
// address}}. Where such an address is the one that the field has at that moment,
// the guard watches it: a check of the field at another address becomes a
// buffer_moved event, once, and the dump has the fact "address.<field>". A caller
// whose addresses are ids of its own making notes the move and states the fact
// itself.
package detect
