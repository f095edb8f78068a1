package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/fixtures"
	"github.com/nanguard/nanguard/fixtures/captured"
	"github.com/nanguard/nanguard/fixtures/score"
	"github.com/nanguard/nanguard/rootcause"
)

// options are the flags.
type options struct {
	seeds      int
	collection string
	out        string
	keep       string // folder of dumps that were built before, or ""
	split      string // the half that is measured, or both
	fit        bool   // fit weights instead of writing a report
	weights    string // where they go
}

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 50, "seeds of each fixture; even ones are the tuning half")
	flag.StringVar(&o.collection, "captured", "fixtures/captured/testdata", "folder of captured dumps; empty: none")
	flag.StringVar(&o.out, "out", "bench/results", "folder of the report")
	flag.StringVar(&o.keep, "keep", "", "folder in which the fixtures' dumps are kept, so that the next run need not build them")
	flag.StringVar(&o.split, "split", "", "measure this half only: tune or test")
	flag.BoolVar(&o.fit, "fit", false, "fit the weights of package rootcause to the tuning half, instead of a report")
	flag.StringVar(&o.weights, "weights", "rootcause/weights.json", "where the fitted weights go")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "diagnosis:", err)
		os.Exit(1)
	}
}

// run measures and writes the report.
func run(ctx context.Context, o options, progress io.Writer) error {
	if o.fit {
		o.split = "tune"
	}
	all, err := measureFixtures(ctx, o, progress)
	if err != nil {
		return err
	}
	if o.collection != "" {
		more, err := measureCaptured(o)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	if o.fit {
		return writeWeights(o, all, progress)
	}
	return writeReport(o, samples(all))
}

// samples drops what only fitting needs.
func samples(all []example) []sample {
	out := make([]sample, len(all))
	for i := range all {
		out[i] = all[i].sample
	}
	return out
}

// job is one fixture with one seed.
type job struct {
	fixture fixtures.Fixture
	seed    int
}

// measureFixtures builds and diagnoses, on all processors.
func measureFixtures(ctx context.Context, o options, progress io.Writer) ([]example, error) {
	k := keeper{dir: o.keep, keep: o.keep != ""}
	if !k.keep {
		dir, err := os.MkdirTemp("", "nanguard-diagnosis-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		k.dir = dir
	}
	jobs := make(chan job)
	var mu sync.Mutex
	var all []example
	var errs []error
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range jobs {
				got, err := measureFixture(ctx, j, k)
				mu.Lock()
				all, errs = append(all, got...), append(errs, err)
				mu.Unlock()
			}
		})
	}
	for _, f := range fixtures.Catalog() {
		fmt.Fprintln(progress, f.Name)
		for seed := range o.seeds {
			if j := (job{f, seed}); o.split == "" || o.split == j.split() {
				jobs <- j
			}
		}
	}
	close(jobs)
	wg.Wait()
	return all, errors.Join(errs...)
}

// split returns the half that a seed belongs to.
func (j *job) split() string {
	if j.seed%2 == 1 {
		return "test"
	}
	return "tune"
}

// measureFixture runs one fixture and diagnoses its dump in all versions.
func measureFixture(ctx context.Context, j job, k keeper) ([]example, error) {
	path, guilty, err := k.build(ctx, j)
	if err != nil {
		return nil, err
	}
	defer k.drop(j)
	s := sample{Name: j.fixture.Name, Seed: int64(j.seed), Source: "fixture", Split: j.split()}
	return measure(path, s, score.Truth{Want: j.fixture.Want, Guilty: guilty})
}

// measureCaptured diagnoses a collection.
func measureCaptured(o options) (out []example, err error) {
	all, err := captured.Read(o.collection)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if o.split != "" && o.split != d.Split {
			continue
		}
		s := sample{Name: d.Name, Seed: d.Seed, Source: "captured", Split: d.Split}
		got, err := measure(d.File, s, score.Truth{Want: d.Want(), Guilty: d.Guilty})
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// measure diagnoses a dump in all versions that it has. The first bad value is
// asked for as the version has it.
func measure(path string, s sample, t score.Truth) (out []example, err error) {
	f, err := dump.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s.Want = t.Want.Cause
	if s.Want == "" {
		s.Want = rootcause.Clean
	}
	for _, v := range versions {
		src := v.view(f)
		if src == nil {
			continue
		}
		c, err := rootcause.NewCase(src)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", s.Name, v.name, err)
		}
		d := rootcause.Diagnose(c, rootcause.DefaultOptions())
		t.Trip = src.Manifest().Trip
		s.Version, s.Mark = v.name, score.Judge(t, &d)
		f := c.Findings()
		out = append(out, example{sample: s, findings: f, balance: f.Balance(rootcause.DefaultOptions().Prior), accepted: append([]string{s.Want}, t.Want.Also...)})
	}
	return out, nil
}
