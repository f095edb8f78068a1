package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/fixtures"
	"github.com/nanguard/nanguard/fixtures/captured"
	"github.com/nanguard/nanguard/fixtures/score"
	"github.com/nanguard/nanguard/internal/cli"
	"github.com/nanguard/nanguard/internal/forensics"
)

// verifyFlags are the flags of fixtures verify.
type verifyFlags struct {
	seed, seeds uint64
	captured    string
}

// verifyResult is the JSON of fixtures verify.
type verifyResult struct {
	Right   int        `json:"right"`
	Total   int        `json:"total"`
	Known   int        `json:"known"` // misses that are listed
	Failed  int        `json:"failed"`
	Results []verified `json:"results"`
}

// verified is one fixture or captured dump, built and diagnosed.
type verified struct {
	Name    string   `json:"name"`
	Seed    *uint64  `json:"seed,omitempty"` // of a fixture
	Want    string   `json:"want"`
	Also    []string `json:"also"`
	Got     string   `json:"got"`
	Belief  float64  `json:"belief"`
	Verdict string   `json:"verdict"` // "right", "wrong" or "none"
	OK      bool     `json:"ok"`
	Faults  []string `json:"faults"`          // what of the diagnosis is not as it should be
	Known   string   `json:"known,omitempty"` // why it is a known miss
}

// newFixturesVerify returns the command that verifies them.
func newFixturesVerify(g *globals) *cobra.Command {
	x := verifyFlags{seeds: 1}
	c := &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Build fixtures and see whether each is diagnosed as what it is, for CI",
		Long: "verify runs each fixture (all of them without a NAME), diagnoses its dump and compares. What is asked: the cause\n" +
			"ranks first, or another that an expert would not call wrong; the first bad field and its moment are the true ones,\n" +
			"and the env in which it began is one that the fault had hold of; a run without a fault is clean.\n" +
			"Misses that are known are listed in fixtures/score/misses.txt; one that is diagnosed after all has to leave the list.\n" +
			"The exit code is 0 when all is so, 3 when it is not and 1 when a fixture cannot be built.",
		Example:           "  nanguard fixtures verify\n  nanguard fixtures verify contact ranks --seeds 10\n  nanguard fixtures verify --captured fixtures/captured/testdata --json",
		Args:              cli.Args(cobra.ArbitraryArgs),
		ValidArgsFunction: completeFixtures,
		RunE: func(c *cobra.Command, names []string) error {
			r, err := g.verify(c.Context(), names, x)
			if err != nil {
				return err
			}
			if g.json {
				err = writeJSON(c.OutOrStdout(), r)
			} else {
				err = r.print(c.OutOrStdout())
			}
			if err == nil && r.Failed > 0 {
				return cli.ErrFound
			}
			return err
		},
	}
	c.Flags().Uint64Var(&x.seed, "seed", 1, "the first seed")
	c.Flags().Uint64Var(&x.seeds, "seeds", x.seeds, "how many seeds to run each fixture with")
	c.Flags().StringVar(&x.captured, "captured", "", "verify the captured dumps of this folder too, or just them with --seeds 0")
	return c
}

// verify runs and diagnoses, on all processors.
func (g *globals) verify(ctx context.Context, names []string, x verifyFlags) (r *verifyResult, err error) {
	all, err := chosen(names)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nanguard-fixtures-")
	if err != nil {
		return nil, fmt.Errorf("verify fixtures: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	results, errs := make([]verified, len(all)*int(x.seeds)), make([]error, len(all)*int(x.seeds))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range results {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			f, seed := all[i/int(x.seeds)], x.seed+uint64(i)%x.seeds
			results[i], errs[i] = g.verifyOne(ctx, f, seed, dir)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if x.captured != "" {
		more, err := g.verifyCaptured(x.captured)
		if err != nil {
			return nil, err
		}
		results = append(results, more...)
	}
	return sumUp(results, score.Misses()), nil
}

// sumUp counts the results and tells the known misses.
func sumUp(all []verified, known map[string]string) *verifyResult {
	r := &verifyResult{Total: len(all), Results: all}
	for i := range all {
		v := &all[i]
		v.Known = known[v.key()]
		switch {
		case v.OK:
			r.Right++
		case v.Known != "":
			r.Known++
		}
		if v.OK == (v.Known != "") {
			r.Failed++
		}
	}
	return r
}

// key is what it is called among the misses.
func (v *verified) key() string {
	if v.Seed == nil {
		return v.Name
	}
	return score.Key(v.Name, *v.Seed)
}

// verifyOne builds one fixture below dir and diagnoses it. Its dump is not kept.
func (g *globals) verifyOne(ctx context.Context, f fixtures.Fixture, seed uint64, dir string) (verified, error) {
	dir = filepath.Join(dir, fmt.Sprintf("%s-%d", f.Name, seed))
	res, err := fixtures.Run(ctx, fixtures.Options{Fault: f.Name, Seed: seed, Dir: dir})
	if err != nil {
		return verified{}, err
	}
	v, err := g.judge(f.Name, res.Path, score.Truth{Want: f.Want, Trip: res.Trip, Guilty: res.Guilty})
	v.Seed = &seed
	return v, errors.Join(err, os.RemoveAll(dir))
}

// verifyCaptured diagnoses a collection.
func (g *globals) verifyCaptured(dir string) (out []verified, err error) {
	all, err := captured.Read(dir)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		v, err := g.judge(d.Name, d.File, score.Truth{Want: d.Want(), Trip: d.First(), Guilty: d.Guilty})
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// judge diagnoses a dump and compares the outcome with the truth.
func (g *globals) judge(name, path string, t score.Truth) (verified, error) {
	f, err := g.open(path)
	if err != nil {
		return verified{}, err
	}
	defer f.Close()
	d, err := forensics.Diagnose(f)
	if err != nil {
		return verified{}, err
	}
	m := score.Judge(t, d)
	return verified{
		Name: name, Want: causeOf(t.Want), Also: list(t.Want.Also), Got: m.Got, Belief: m.Belief, Verdict: m.Verdict,
		OK: m.Right(), Faults: m.Faults(),
	}, nil
}

// print writes a line for each that is not as it should be, and the sum.
func (r *verifyResult) print(w io.Writer) error {
	var b strings.Builder
	for _, v := range r.Results {
		name := v.Name
		if v.Seed != nil {
			name += fmt.Sprintf(" (seed %d)", *v.Seed)
		}
		switch {
		case v.OK && v.Known != "":
			fmt.Fprintf(&b, "%s: is diagnosed: take %s off fixtures/score/misses.txt\n", name, v.key())
		case !v.OK:
			fmt.Fprintf(&b, "%s: want %s, got %s with %.0f %%; wrong: %s", name, v.Want, v.Got, 100*v.Belief, strings.Join(v.Faults, ", "))
			if v.Known != "" {
				fmt.Fprintf(&b, " (known: %s)", v.Known)
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "%d of %d are diagnosed as what they are\n", r.Right, r.Total)
	_, err := io.WriteString(w, b.String())
	return err
}
