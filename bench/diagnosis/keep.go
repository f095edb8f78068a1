package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nanguard/nanguard/fixtures"
)

// keeper builds the dumps of fixtures in a folder, and keeps them there if it
// shall: building takes far longer than diagnosing.
type keeper struct {
	dir  string
	keep bool
}

// kept is what stands beside a dump that is kept.
type kept struct {
	File   string `json:"file"`
	Guilty []int  `json:"guilty"`
}

func (k keeper) folder(j job) string {
	return filepath.Join(k.dir, fmt.Sprintf("%s-%d", j.fixture.Name, j.seed))
}

// build returns the dump of a job and the envs in which it may have begun.
func (k keeper) build(ctx context.Context, j job) (path string, guilty []int, err error) {
	dir := k.folder(j)
	note := filepath.Join(dir, "kept.json")
	if data, err := os.ReadFile(note); k.keep && err == nil {
		var old kept
		if err := json.Unmarshal(data, &old); err != nil {
			return "", nil, fmt.Errorf("%s: %w", note, err)
		}
		return filepath.Join(dir, old.File), old.Guilty, nil
	}
	res, err := fixtures.Run(ctx, fixtures.Options{Fault: j.fixture.Name, Seed: uint64(j.seed), Dir: dir})
	if err != nil || !k.keep {
		return res.Path, res.Guilty, err
	}
	data, err := json.Marshal(kept{filepath.Base(res.Path), res.Guilty})
	if err != nil {
		return "", nil, err
	}
	return res.Path, res.Guilty, os.WriteFile(note, data, 0o644)
}

// drop removes the dump of a job unless it is to be kept.
func (k keeper) drop(j job) {
	if !k.keep {
		os.RemoveAll(k.folder(j))
	}
}
