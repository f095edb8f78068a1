package rootcause

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/mjb"
)

// What a cutoff leaves of a sensor of motion that says nothing any more: how much of its
// readings are clipped, how many on either side at least, and over how many records. A hard
// landing clips a few, a robot that hangs by its sensor clips one side.
const (
	clippedShare = 0.9
	eitherSide   = 0.1
)

// clippedMotion finds an accelerometer, gyro or velocimeter whose readings are at plus or minus
// the cutoff that the model gives it nearly always, in both directions of every axis, and an
// observation that holds them.
func (c *Case) clippedMotion() (Feature, bool) {
	f := c.byName[engineSensors]
	if c.model == nil || f.len() <= stuckFor || !f.PerEnv {
		return Feature{}, false
	}
	for i, s := range c.model.Sensors {
		if s.Type < mjb.Accelerometer || s.Type > mjb.Gyro || !(s.Cutoff > 0) || s.Adr < f.from || s.Adr+s.Dim > f.to {
			continue
		}
		all := 0.0
		for col := s.Adr - f.from; col < s.Adr-f.from+s.Dim; col++ {
			over, under := f.clippedAt(col, s.Cutoff)
			if all += (over + under) / float64(s.Dim); over < eitherSide || under < eitherSide {
				all = 0
				break
			}
		}
		if all < clippedShare || !c.seesClipped(s.Cutoff) {
			continue
		}
		name := [...]string{"an accelerometer", "a velocimeter", "a gyro"}[s.Type-mjb.Accelerometer]
		out := found(spikes, fmt.Sprintf("%.0f %% of the readings of sensor %d, %s, are plus or minus %s, where the model cuts it off: it tells a direction, and no size", 100*all, i, name, num(s.Cutoff)))
		out.Measured, out.Baseline = all, clippedShare
		return out.in(f, -1, s.Adr-f.from, f.frames.Ticks[0]), true
	}
	return Feature{}, false
}

// clippedAt returns how much of a column, over all rows and records, is at a number, and at the
// same below zero.
func (f *field) clippedAt(col int, v float64) (over, under float64) {
	one := 1 / float64(f.len()*f.rows)
	for i := range f.len() {
		for row := range f.rows {
			switch f.at(i, row, col) {
			case float64(float32(v)):
				over += one
			case -float64(float32(v)):
				under += one
			}
		}
	}
	return over, under
}

// seesClipped reports whether a column of an observation is at a cutoff nearly always.
func (c *Case) seesClipped(cutoff float64) bool {
	for _, f := range c.fields {
		for col := 0; f.kind == obs && f.len() > 0 && col < f.to-f.from; col++ {
			if over, under := f.clippedAt(col, cutoff); over+under >= clippedShare && math.Min(over, under) >= eitherSide {
				return true
			}
		}
	}
	return false
}
