package main

import (
	"sort"

	"github.com/nanguard/nanguard/fixtures/score"
	"github.com/nanguard/nanguard/rootcause"
)

// sample is one diagnosis with what it was of.
type sample struct {
	Name    string     `json:"name"`
	Seed    int64      `json:"seed"`
	Source  string     `json:"source"` // "fixture" or "captured"
	Split   string     `json:"split"`  // "tune" or "test"
	Version string     `json:"version"`
	Want    string     `json:"want"`
	Mark    score.Mark `json:"mark"`
}

// tally is what a set of diagnoses came to.
type tally struct {
	N        int `json:"n"` // of failures
	First    int `json:"first"`
	Accepted int `json:"accepted"`
	Three    int `json:"three"`

	Right  int `json:"verdict_right"`
	Wrong  int `json:"verdict_wrong"` // a cause that is not it
	None   int `json:"verdict_none"`
	Unseen int `json:"unseen"` // called clean, for nothing in the version shows it

	Clean  int `json:"clean"` // runs in which nothing is wrong
	Alarms int `json:"false_alarms"`

	Field share `json:"field"`
	Env   share `json:"env"`
	Step  share `json:"step"`
}

// share is a number of right answers.
type share struct {
	Right int `json:"right"`
	Asked int `json:"asked"`
}

func (s *share) add(a score.Answer) {
	if a != score.NotAsked {
		s.Asked++
	}
	if a == score.Right {
		s.Right++
	}
}

// add takes a sample in.
func (t *tally) add(s sample) {
	m := s.Mark
	if s.Want == "clean" {
		t.Clean++
		if !m.First {
			t.Alarms++
		}
		return
	}
	t.N++
	count(&t.First, m.First)
	count(&t.Accepted, m.Accepted)
	count(&t.Three, m.Three)
	count(&t.Right, m.Verdict == score.VerdictRight)
	count(&t.Wrong, m.Verdict == score.VerdictWrong && m.Got != rootcause.Clean)
	count(&t.Unseen, m.Got == rootcause.Clean)
	count(&t.None, m.Verdict == score.VerdictNone)
	t.Field.add(m.Field)
	t.Env.add(m.Env)
	t.Step.add(m.Step)
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}

// sum tallies the samples that a rule takes.
func sum(all []sample, take func(sample) bool) (t tally) {
	for _, s := range all {
		if take(s) {
			t.add(s)
		}
	}
	return t
}

// bin is one row of the reliability table: how often what was believed with
// about this probability was so.
type bin struct {
	From, To float64
	N        int
	Belief   float64 // mean
	Right    float64 // share
}

// accepted and strict say what counts as right: what an expert would not call
// wrong, or the cause itself.
func accepted(s sample) bool { return s.Mark.Accepted }
func strict(s sample) bool   { return s.Mark.First }

// reliability sorts the beliefs of the failures that were noticed into ten bins
// and returns them with the expected calibration error.
func reliability(all []sample, right func(sample) bool) (bins []bin, ece float64) {
	bins = make([]bin, 10)
	n := 0
	for i := range bins {
		bins[i].From, bins[i].To = float64(i)/10, float64(i+1)/10
	}
	for _, s := range all {
		if s.Want == "clean" || s.Mark.Got == "clean" {
			continue
		}
		b := &bins[min(9, int(s.Mark.Belief*10))]
		b.N++
		n++
		b.Belief += s.Mark.Belief
		if right(s) {
			b.Right++
		}
	}
	for i := range bins {
		b := &bins[i]
		if b.N == 0 {
			continue
		}
		gap := b.Belief - b.Right
		ece += max(gap, -gap) / float64(n)
		b.Belief, b.Right = b.Belief/float64(b.N), b.Right/float64(b.N)
	}
	return bins, ece
}

// confusion counts what each cause was taken for.
func confusion(all []sample) (wants, gots []string, counts map[[2]string]int) {
	counts = map[[2]string]int{}
	w, g := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		counts[[2]string{s.Want, s.Mark.Got}]++
		w[s.Want], g[s.Mark.Got] = true, true
	}
	return keys(w), keys(g), counts
}

func keys(m map[string]bool) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
