// Package plot draws numbers with characters: sparklines, bars and line charts
// in which a non-finite value is a mark of its own and never a missing point.
//
// A chart is a grid of [Cell] values, each a character with an [Ink] that says
// what it stands for. The caller gives inks their colours; the characters alone
// tell NaN, +Inf and -Inf apart, so that a chart reads the same without colour.
package plot
