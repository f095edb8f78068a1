// Package cell measures, cuts and pads text in terminal cells. Every text that
// viznan shows passes through it, so that no line is ever wider than asked.
//
// Terminals disagree about the width of some characters: one counts the cells
// of each character, another those of each grapheme. [Clean] keeps only text
// on which both agree.
package cell
