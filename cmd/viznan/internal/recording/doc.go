// Package recording is what viznan knows about a dump: its fields as tracks
// over one time axis, the envs with the culprits first, which frame of which
// env is bad, and the marks to jump to.
//
// A [Recording] opens with the manifest alone. Arrays come in one field at a
// time: [Recording.Load] reads without changing anything, so that it may run
// beside the program, and [Recording.Install] takes what was read. Text of the
// file is made harmless when it comes in: every exported string but the raw
// names in specs may go to a terminal as it is.
//
// A moment is a tick of the guard's counter. Fields are sampled by different
// clocks, so at a given tick a field shows its last frame up to there.
package recording
