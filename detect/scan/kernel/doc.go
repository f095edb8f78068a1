// Package kernel holds the code that scans on a GPU: its one source, scan.cu,
// the PTX made from it, scan.ptx, and the Go view of the memory that host and
// GPU share.
//
// # What one launch does
//
// A check is one launch, or one for each [MaxArgs] fields when it has more. Its
// readers are blocks that read tiles of 20 KiB of one field, 16 bytes per thread
// and load, and store what they read into the field's ring at once, so that
// every byte crosses the bus once in each direction. While all is well an
// element costs some additions, a minimum and a maximum: a NaN or an infinity
// shows in the sum. Only then is it read again, one element after the other, to
// count and to find the first bad value. Floats with strides are read one by one
// too, but fast; integers with strides, and whatever lies at addresses that are
// no multiple of its size, as if they were bad.
//
// No block waits for another. What readers find they leave in pieces, and one
// more block for each field, its bookkeeper, sums up the pieces of the field's
// frame before, while the readers are at work on this one. So the row of a
// trace comes one frame later, which nobody sees: a flush writes the last ones
// when a snapshot is taken. But whether something is bad must be known at once.
// Each block counts itself as done with an atomic addition that also says
// whether it has found something, and the last one moves the tick and the clock
// on. It decides on a trip: of all fields that went bad in this check, the one
// of the smallest rank, row and column. Then, or some frames later, it freezes
// the recorder: from then on launches only count, so that the host can read the
// rings at leisure, and the last block looks whether the host wants recording to
// begin again with the next check. All of that is on the device, so a launch may as well be
// part of a CUDA graph.
//
// The launches of one [State] must be ordered: on one stream, or on several
// with events between them.
//
// # Exactness
//
// Counts, extremes and positions are those of scan.Host. The mean is the same
// on each run of a program on a machine. It differs from that of scan.Host by no
// more than 2^-40 of the mean absolute value, for float32 and shorter floats
// 2^-22, because four or eight neighbours are added as float32.
//
// # How it came to be fast
//
// bench/results/h200-scan.md has the numbers. What cost most on the way: waiting
// for the last block (two fences and two atomics, 3 µs of 14); the bookkeeper's
// work at the end instead of beside (2 µs); loads that give all threads the same,
// which the compiler waits for at once, so that a block now asks with one load,
// a word by each lane, and looks at the answer after it has asked for its first
// tile (2 µs).
//
// # Making the PTX
//
// generate.py does it, with the NVRTC of a package index and neither GPU nor
// toolkit. A test compares a hash of scan.cu with the one that scan.ptx
// carries; CI compiles and compares all of it.
//
// # Running without a GPU
//
// The same scan.cu is C++ for the host once NG_HOST is defined: host.h lets
// fibers play the threads of a block. internal/cuda/cudatest makes a CUDA
// driver of it, on which all tests of package gpu run in CI.
package kernel
