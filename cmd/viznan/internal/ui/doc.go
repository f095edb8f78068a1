// Package ui is the screen of viznan: one bubbletea model, panes that are plain
// structs with a View, and one function that gives each its place.
//
// The parts, in the way of a key press:
//
//	keys.go      which keys there are; the help is made from it
//	model.go     Update: messages change the scene, nothing else does
//	actions.go   what each key does
//	scene.go     what is looked at: field, env, column, tick
//	layout.go    size of the terminal in, rectangles out
//	screen.go    panes into rectangles, every line cut to its place
//
// Reading and diagnosing happen in commands (load.go); panes only read the
// scene. Colour is decoration: every state has a character of its own, so that
// nothing is lost with NO_COLOR or in a plain log.
package ui
