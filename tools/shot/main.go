// Shot turns the ANSI text of one terminal screen into an SVG picture: the
// screenshot in the README is made from the program itself and the same input
// always gives the same bytes.
//
// Usage:
//
//	viznan --once DUMP | shot [-title TEXT] > screen.svg
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// maxInput bounds what is read: a screen, not a log.
const maxInput = 16 << 20

// run is the program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("shot", flag.ContinueOnError)
	flags.SetOutput(stderr)
	title := flags.String("title", "viznan", "`text` in the window's title bar")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		if err == nil {
			fmt.Fprintln(stderr, "shot: reads the screen from stdin and takes no arguments")
		}
		return 2
	}
	text, err := io.ReadAll(io.LimitReader(stdin, maxInput))
	if err != nil {
		fmt.Fprintf(stderr, "shot: read the screen: %v\n", err)
		return 1
	}
	w := bufio.NewWriter(stdout)
	draw(w, parse(string(text)), *title)
	if err := w.Flush(); err != nil {
		fmt.Fprintf(stderr, "shot: write the picture: %v\n", err)
		return 1
	}
	return 0
}
