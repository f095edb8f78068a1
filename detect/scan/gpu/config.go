package gpu

import (
	"fmt"

	"github.com/nanguard/nanguard/detect/scan/kernel"
	"github.com/nanguard/nanguard/tensor"
)

// Config says what an Engine watches.
type Config struct {
	Device     int // number of the GPU as this process counts
	NumEnvs    int // rows of the fields that mark envs; 0 when there are none
	PostFrames int // counts of the tripping clock to record after the trip
	Fields     []Field
	Spare      int // fields that Add may add
}

// Field describes a watched array. Its dtype and shape are fixed; where it
// lies and how it is strided each check says anew.
type Field struct {
	DType      tensor.DType
	Rows, Cols int
	Rank       int  // place in the loop, unique, below MaxRank: the smallest takes the trip
	Monitor    bool // never takes the trip for a value that is not finite
	MarkEnvs   bool // rows are envs, and a bad one makes its env a culprit
	Slots      int  // frames that the ring keeps; 0 keeps none
	TraceLen   int  // rows that the trace keeps, at least 1 and at least Slots

	Limit        float64 // an absolute value above it trips; 0: no limit
	Growth       float64 // so does an absolute maximum more than Growth times that of
	GrowthFrames int     // so many frames before, at least 2 and below TraceLen; 0: not watched
	Floor        float64 // as long as it is above Floor
}

// MaxRank bounds the ranks of fields, MaxFields their number.
const (
	MaxRank   = 1 << 20
	MaxFields = 1 << 16
)

// Clocks is how many clocks an engine has.
const Clocks = kernel.Clocks

// validate returns what is wrong with c.
func (c *Config) validate() error {
	if len(c.Fields) > MaxFields {
		return fmt.Errorf("%d fields, at most %d", len(c.Fields), MaxFields)
	}
	ranks := map[int]int{}
	for i := range c.Fields {
		f := &c.Fields[i]
		if err := f.validate(c.NumEnvs); err != nil {
			return fmt.Errorf("field %d: %w", i, err)
		}
		if j, ok := ranks[f.Rank]; ok {
			return fmt.Errorf("fields %d and %d: both of rank %d", j, i, f.Rank)
		}
		ranks[f.Rank] = i
	}
	return nil
}

// validate returns what is wrong with f.
func (f *Field) validate(envs int) error {
	switch {
	case f.DType.Size() == 0:
		return fmt.Errorf("dtype %v", f.DType)
	case f.Rows < 0 || f.Cols < 0:
		return fmt.Errorf("shape %d x %d", f.Rows, f.Cols)
	case f.Rank < 0 || f.Rank >= MaxRank:
		return fmt.Errorf("rank %d is not in [0, %d)", f.Rank, MaxRank)
	case f.MarkEnvs && f.Rows != envs:
		return fmt.Errorf("%d rows for %d envs", f.Rows, envs)
	case f.Slots < 0 || f.TraceLen < 1 || f.TraceLen < f.Slots || f.TraceLen > 1<<30:
		return fmt.Errorf("%d frames and a trace of %d rows", f.Slots, f.TraceLen)
	case f.GrowthFrames != 0 && (f.GrowthFrames < 2 || f.GrowthFrames >= f.TraceLen):
		return fmt.Errorf("growth over %d frames in a trace of %d rows", f.GrowthFrames, f.TraceLen)
	}
	return nil
}

// bytes returns the size of one frame.
func (f *Field) bytes() int { return f.Rows * f.Cols * f.DType.Size() }

// slotBytes returns how far apart frames stand in a ring.
func (f *Field) slotBytes() int { return align(f.bytes(), 16) }

// tiles returns how many pieces for readers one frame has.
func (f *Field) tiles() int { return (f.bytes() + kernel.TileBytes - 1) / kernel.TileBytes }
