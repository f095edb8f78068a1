// Package dump reads and writes NaN dumps: the .npz files in which a guard of a
// training loop keeps what led up to the first non-finite value.
//
// # Reading
//
// [Open] takes the dumps of every producer behind one [File]:
//
//	f, err := dump.Open("nan_dump_latest.npz")
//	m := f.Manifest()              // what the file is of: envs, fields, trip
//	s, err := f.Frames("qvel")     // T x rows x columns, with ticks and env ids
//	c := f.Columns("qvel")         // "left_knee", "root vz", ...
//	st, err := f.Frames("state")   // the simulator's state vectors
//	w := f.Warnings()              // what is doubtful about the file
//
// Opening reads the zip's directory, the metadata and the manifest; arrays are
// decoded when they are asked for, and kept. Reading goes in steps, each of
// which trusts nothing of the one before:
//
//  1. the zip's directory, in bounded memory (archive.go)
//  2. an entry: what the directory says of it, its name before its data, its
//     checksum behind it (archive.go, entry.go)
//  3. the .npy header, held against the length of the entry before anything is
//     allocated (npy.go)
//  4. the metadata: a pickle, decoded by a machine that knows data only and
//     runs nothing (unpickle.go)
//  5. the manifest: JSON, member by member (manifest_read.go, manifest_check.go)
//  6. the producer, by what the file holds (producer.go)
//
// What is wrong with the file as a whole is a [*FormatError] of Open. What is
// wrong with one entry is a warning, and an error of the field that it belongs
// to; the other entries stay usable. All that a file makes this package hold is
// on one account, [Options.MaxBytes].
//
// # The format
//
// A dump of nanguard's own is an ordinary .npz that numpy opens, and a superset
// of what mjlab's NaN guard writes. Its entries, with the words of the manifest:
//
//	states_step_000123     <f8  rows x state_size: MuJoCo's state before a substep
//	_metadata              a pickled dict, as mjlab has it
//	_nanguard              |u1  the manifest: a JSON document
//	field.<name>           T x rows x cols (T x cols for the whole run), any dtype
//	field.<name>.tick      <i8  T: the guard's counter, over all clocks
//	field.<name>.count     <i8  T: the field's own clock
//	trace.<name>           <f8  T x 8: nan, posinf, neginf, absmax, argmax, min, max, mean
//	trace.<name>.tick, trace.<name>.count
//
// docs/dump-format.md in the repository says it all, with how the dumps of mjlab
// (its four formats), ms_lab, parahand, LuckyLab and UniLab differ.
//
// # The promise
//
// Every dump that a released version has written is read by all later ones, with
// the same values. Entries and manifest keys may be added; none is renamed,
// retyped or dropped. A manifest of a later version opens with a warning, as far
// as its members are known. Readers of others that know mjlab's format keep
// working on dumps of ours.
//
// # Writing
//
// [WriteFile] writes a [Draft]. The file appears whole or not at all, and says
// nothing that the draft does not: the same draft gives the same bytes.
package dump
