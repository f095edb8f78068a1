//go:build cgo

package main

// main is never called: a shared library starts at its exports.
func main() {}
