// Package mjb reads what a diagnosis needs of a MuJoCo model: from a binary
// model file (.mjb), which mjlab and others write beside a dump, or, as far as
// that goes, from MJCF (.xml).
//
// # A binary model
//
// A file is a dump of mjModel, little-endian and without padding between its
// parts:
//
//	header   five int32: 54321, sizeof(mjtNum), then
//	         before MuJoCo 3.5: number of int32 sizes, of int64 sizes, of arrays
//	         from 3.5 on:       number of int64 sizes, mj_version(), number of arrays
//	sizes    nq, nv, nu, ... and what else counts something
//	structs  mjOption, mjVisual, mjStatistic as C lays them out, and from 3.11 on
//	         two or three bytes of flags
//	arrays   qpos0, ..., body_pos, ..., names, ...: each as many elements as the
//	         sizes say
//
// Nearly every release adds sizes and arrays or moves them. Which stand where is
// said by MuJoCo's own headers, from which internal/gen makes the tables in
// layouts_gen.go: every release on PyPI from 3.0.0 to 4.0.1.
//
// A layout is taken only when the counts in the header and the size of the file
// agree with it to the byte. Before 3.5 the header does not name the version,
// and some neighbours are laid out alike: Version is then a range, such as
// "3.2.1-3.2.2". A later version than the tables know is read as the newest that
// fits, with a warning; what fits none is a *LayoutError, which still carries the
// numbers of columns when they are believable.
//
// Only the header, the names and some small arrays are read, by offset: a model
// of 70 MB, nearly all of it meshes, takes a fraction of a millisecond.
//
// # The state vector
//
// mj_getState packs what the bits of a state spec select, in ascending order of
// the bits. Their meaning moved twice: 3.5 put history between act and
// qacc_warmstart, and 4.0 added plastic state at the end, both to the physics
// state as well. StateParts therefore depends on the model's version;
// PartsForSize finds the parts where a dump does not say its spec; StateLabels
// names the columns.
//
// # Trust
//
// Nothing in a file is trusted: sizes are checked against the file's before they
// are used, addresses before they index, and what would take much memory is
// bounded. Names come as they are in the file and may hold control characters.
package mjb
