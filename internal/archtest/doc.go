// Package archtest holds the shape of the project by tests: which package may
// import which (docs/architecture.md), how long files and functions may grow,
// and that every package and exported name says what it is for. It has no code
// of its own.
package archtest
