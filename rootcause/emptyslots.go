package rootcause

import (
	"fmt"
	"math"
)

// The bounds of samples that are zeros: their share of all that was drawn, in how
// many batches. Absorbing states are zeros as well, one at the end of an episode.
const (
	emptyShare   = 0.5
	emptyBatches = 20
	emptyNear    = 0.1 // of the share that the buffer's size says is empty
)

// countWords are in the names of fields that say which samples or steps count, or
// that the network is recurrent and learns from sequences: with them, zeros are
// padding that nobody reads. What is on policy has no buffer to draw from.
var countWords = []string{"mask", "valid", "pad", "seq", "length", "hidden", "rnn", "lstm", "gru", "advantage"}

// neverFilled finds batches that are mostly slots of a buffer that nothing was
// written to, as many as its size and capacity say: observation and reward of the same samples are exactly zero in most of
// them, and neither is ever zero where it is collected. Sparse rewards are zero there too.
func (c *Case) neverFilled() (Feature, bool) {
	if c.tripped != nil {
		return Feature{}, false
	}
	var o, r *field
	for _, f := range c.fields {
		if f.PerEnv || f.len() == 0 {
			continue
		}
		switch {
		case about(f.Name, countWords...):
			return Feature{}, false
		case f.kind == obs && o == nil:
			o = f
		case (f.kind == reward || f.kind == term) && r == nil:
			r = f
		}
	}
	if o == nil || r == nil || o.len() < emptyBatches || o.len() != r.len() || !c.collectsNoZeros() {
		return Feature{}, false
	}
	empty, all := o.emptyWith(r)
	if float64(empty) < emptyShare*float64(all) || all == 0 || empty == all {
		return Feature{}, false
	}
	size, a := c.fact("replay.size")
	capacity, b := c.fact("replay.capacity")
	if !a || !b || math.Abs(float64(empty)/float64(all)-(1-size/capacity)) > emptyNear {
		return Feature{}, false // as much as was not written yet, and no less
	}
	text := fmt.Sprintf("%.0f %% of the samples of %s are exactly zero, and so is %s of just these, though neither ever is where it is collected: slots of a buffer that were never written (it holds %s of %s: draw below its size, not below its capacity)",
		100*float64(empty)/float64(all), o.Name, r.Name, num(size), num(capacity))
	out := found("unwritten", text)
	out.Measured, out.Baseline = float64(empty)/float64(all), emptyShare
	return out.in(o, -1, -1, o.frames.Ticks[0]), true
}

// emptyWith counts the samples of all batches, and those of which an observation is
// all zeros; there are none where a reward is zero in other samples than these.
func (f *field) emptyWith(r *field) (empty, all int) {
	n := r.to - r.from
	if n < batchWidth || (f.to-f.from)%n != 0 {
		return 0, 0
	}
	wide := (f.to - f.from) / n
	for i := range f.len() {
		for s := range n {
			zero := true
			for k := range wide {
				zero = zero && f.at(i, 0, s*wide+k) == 0
			}
			if zero != (r.at(i, 0, s) == 0) {
				return 0, 0
			}
			if all++; zero {
				empty++
			}
		}
	}
	return empty, all
}

// collectsNoZeros reports whether rewards and observations of single envs are
// recorded, no such reward is ever zero, and no such observation all zeros.
func (c *Case) collectsNoZeros() bool {
	seenObs, seenReward := false, false
	for _, f := range c.fields {
		if !f.PerEnv || f.len() < emptyBatches || f.kind != obs && f.kind != reward {
			continue
		}
		for i := range f.cells {
			if f.cells[i].max == 0 {
				return false
			}
		}
		seenObs, seenReward = seenObs || f.kind == obs, seenReward || f.kind == reward
	}
	return seenObs && seenReward
}
