// Viznan replays a dump of a training run in the terminal. It opens at the
// first bad frame and shows which field, env and column went bad when, what led
// up to it, and which causes that speaks for.
//
// Usage:
//
//	viznan DUMP
//
// A dump is an .npz of nanguard's own or of mjlab, ms_lab, parahand, LuckyLab
// or UniLab. Where the output is no terminal, viznan prints the diagnosis and
// exits with 3 when it found something, as nanguard diagnose does.
//
// The binary is static and needs nothing of the machine but a terminal: copy it
// to where the dump is.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
