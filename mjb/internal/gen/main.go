package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// releases are the versions on PyPI whose files mjb reads, oldest first.
var releases = []string{
	"3.0.0", "3.0.1",
	"3.1.0", "3.1.1", "3.1.2", "3.1.3", "3.1.4", "3.1.5", "3.1.6",
	"3.2.0", "3.2.1", "3.2.2", "3.2.3", "3.2.4", "3.2.5", "3.2.6", "3.2.7",
	"3.3.0", "3.3.1", "3.3.2", "3.3.3", "3.3.4", "3.3.5", "3.3.6", "3.3.7",
	"3.4.0", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.8.1", "3.9.0", "3.10.0",
	"3.11.0", "3.12.0", "3.13.0", "3.14.0", "3.15.0", "3.16.0", "3.17.0",
	"4.0.0", "4.0.1",
}

func main() {
	cache := flag.String("cache", "", "folder for wheels and what is unpacked from them (default: the user's cache)")
	out := flag.String("out", "layouts_gen.go", "file to write")
	flag.Parse()
	if err := run(*cache, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(cache, out string) error {
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(dir, "mujoco-wheels")
	}
	var t tables
	for _, v := range releases {
		p, err := probe(cache, v)
		if err != nil {
			return fmt.Errorf("mujoco %s: %w", v, err)
		}
		t.add(p)
	}
	src, err := t.source()
	if err != nil {
		return err
	}
	return os.WriteFile(out, src, 0o644)
}
