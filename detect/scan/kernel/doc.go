// Package kernel holds the code that scans on a GPU: its one source, scan.cu,
// the PTX made from it, scan.ptx, and the Go view of the memory that host and
// GPU share.
//
// # What one launch does
//
// A check is one launch of [Launch16] or [Launch100] (or more of the latter,
// when it has more than 100 fields). Each block reads one chunk of one field,
// 16 bytes per thread and load, and stores what it read into the field's ring
// at once, so that every byte crosses the bus once in each direction. While
// all is well a chunk costs two additions per element in a compensated sum, a
// minimum, a maximum and a comparison: a NaN or an infinity shows in the sum.
// Only then is the chunk read again, element by element, to count and to find
// the first bad value. Integers, and floats at addresses that are no multiple
// of their size, are always read that way.
//
// The last block of a field merges what the blocks found, in the order of the
// chunks whatever the order of arrival, writes a row of the trace and latches
// the field's first bad value. The last field of a check moves the tick and
// the clock on, and decides on a trip: of all fields that went bad in this
// check, the one of the smallest rank. Then, or some frames later, it freezes
// the recorder: every later launch returns at once and writes nothing, so that
// the host can read the rings at leisure. All of that happens on the device
// and counts there, so a launch may as well be part of a CUDA graph.
//
// The launches of one [State] must be ordered: on one stream, or on several
// with events between them.
//
// # Exactness
//
// Counts, extremes and positions are those of scan.Host. The mean is the same
// on each run and differs from that of scan.Host by no more than 2^-40 of the
// mean absolute value.
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
