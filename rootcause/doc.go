// Package rootcause says why a training run went non-finite: which value went
// bad first and where it began, which causes explain that and how strongly, and
// which checks of the ten-row table the dump answers.
//
// The way from a dump to a diagnosis:
//
//  1. [NewCase] reads every field of a [Source] once, in loop order, and finds
//     the first bad value of each: the table of first-bad values, cross-checked
//     with the one in the manifest.
//  2. From the earliest of them it walks back along the loop ("obs reads qvel,
//     qvel reads ctrl, ctrl reads the action") while what was read had already
//     run away, and stops at the source: bad output from inputs that were fine.
//     A value that is huge or running away counts as bad there although it is
//     finite, for that comes before NaN more often than not.
//  3. The features F1 to F15 and a few more ("X...") are measured on the case.
//     Each is yes, no or unknown; unknown is not evidence.
//  4. [Diagnose] multiplies priors and likelihoods (likelihood.go, data only)
//     into a ranking that sums to one, gives a verdict only when one is earned,
//     and fills the checklist.
//
// Words: a field is a named array, a row of it an env, a column one number of
// it; a frame is one capture, a tick the guard's counter over all captures; the
// trip is the first non-finite value, an onset the first bad frame of a field,
// and the root is where the chain that ends in the trip began.
//
// The package does no IO and keeps no reference to the dump after NewCase.
package rootcause
