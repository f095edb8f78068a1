package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// report is the JSON beside the text.
type report struct {
	Date     string             `json:"date"`
	Commit   string             `json:"commit"`
	Machine  string             `json:"machine"`
	Seeds    int                `json:"seeds"`
	Versions map[string]tally   `json:"versions"` // fixtures, test half
	Captured map[string]tally   `json:"captured"` // by split, as they are
	Fixtures map[string]tally   `json:"fixtures"` // by name, as they are, all seeds
	ECE      map[string]float64 `json:"ece"`
	Bins     []bin              `json:"reliability"`
}

// writeReport writes text, JSON and plot.
func writeReport(o options, all []sample) error {
	r := newReport(o, all)
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	file := func(name, text string) error {
		return os.WriteFile(filepath.Join(o.out, name), []byte(text), 0o644)
	}
	return errors.Join(
		file("diagnosis.json", string(data)+"\n"),
		file("diagnosis.svg", plot(r.Bins)),
		file("diagnosis.md", r.text(all)),
	)
}

func newReport(o options, all []sample) *report {
	r := &report{
		Date: time.Now().UTC().Format(time.DateOnly), Commit: commit(), Seeds: o.seeds,
		Machine:  fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Versions: map[string]tally{}, Captured: map[string]tally{}, Fixtures: map[string]tally{}, ECE: map[string]float64{},
	}
	for _, v := range versions {
		r.Versions[v.name] = sum(all, func(s sample) bool { return s.Source == "fixture" && s.Split == "test" && s.Version == v.name })
	}
	for _, split := range []string{"tune", "test"} {
		r.Captured[split] = sum(all, func(s sample) bool { return s.Source == "captured" && s.Split == split && s.Version == "full" })
	}
	for _, s := range all {
		if s.Source == "fixture" && s.Version == "full" {
			t := r.Fixtures[s.Name]
			t.add(s)
			r.Fixtures[s.Name] = t
		}
	}
	test := filter(all, func(s sample) bool { return s.Split == "test" && s.Version == "full" })
	r.Bins, r.ECE["full, test half"] = reliability(test, accepted)
	_, r.ECE["all versions, test half"] = reliability(filter(all, func(s sample) bool { return s.Split == "test" }), accepted)
	_, r.ECE["captured"] = reliability(filter(all, func(s sample) bool { return s.Source == "captured" && s.Version == "full" }), accepted)
	_, r.ECE["full, test half, strict"] = reliability(test, strict)
	_, r.ECE["all versions, test half, strict"] = reliability(filter(all, func(s sample) bool { return s.Split == "test" }), strict)
	return r
}

func filter(all []sample, take func(sample) bool) (out []sample) {
	for _, s := range all {
		if take(s) {
			out = append(out, s)
		}
	}
	return out
}

// commit says which state of the work tree ran.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err == nil {
		return strings.TrimSpace(string(out))
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
