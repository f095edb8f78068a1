//go:build cgo

// Package main is libnanguard.so: the guard of package detect behind a C ABI,
// for training loops in C, C++ and, through python/nanguard, Python.
//
//	CGO_ENABLED=1 go build -buildmode=c-shared -o bin/libnanguard.so ./cabi
//
// nanguard.h is written by hand and is the contract; it says what every call
// does. The way of a call:
//
//	caller ──▶ guard.c  ng_check     refuses a forked child, takes structs of other
//	             │                   versions, keeps the error text of the thread
//	             ▼
//	           exports.go goCheck    finds the guard of the handle, catches panics
//	             │
//	             ▼
//	           convert.go            C structs to detect's, both asserted to agree
//	             │
//	             ▼
//	           package detect
//
// A check of fields on a GPU that was made before does not go that way: repeat.c
// launches it again with the addresses of now, since the way into Go takes several
// times as long, above all for a caller that comes once in a few milliseconds. The
// guard teaches it such checks and catches up on them whenever it is asked anything
// (detect.Repeater). What is not exactly such a check, and every check once the GPU
// has news, goes through the guard.
//
// Python finds such a check by the names of its arrays (again.c), and their
// addresses by asking their framework (exchange.c), before either of the two.
//
// The C side comes first because a forked child that enters the Go runtime of
// its parent never returns. exports.h is included on both sides, so the C
// compiler refuses a Go function that does not match its prototype.
//
// # Promises
//
// Members are only added to a struct at its end, and a struct_size says which
// the caller knows. Codes and numbers keep their meaning. A function that is
// replaced stays.
package main
