// Command gen writes mjb/layouts_gen.go: where everything stands in a binary
// model file of every MuJoCo version.
//
// For each version it fetches the wheel that carries MuJoCo's headers and
// library from PyPI, compiles probe.c.txt against them, runs it on an empty
// model, and folds the answers into tables whose rows say from which version to
// which they hold. It needs pip, a C compiler and x86-64 Linux; about 400 MB are
// downloaded and kept in the folder that -cache names.
//
//	go generate ./mjb
//
// A new release of MuJoCo: add it to releases, run, look at the difference.
package main
