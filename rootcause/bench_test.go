package rootcause

import (
	"fmt"
	"testing"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// wide returns a source of frames x envs x columns in float32 over a few
// fields, the way a large humanoid's dump has them.
func wide(frames, envs, cols int) *arrays {
	a := &arrays{series: map[string]*dump.Series{}}
	a.man = dump.Manifest{Format: "nanguard-dump", NumEnvs: 4096, Clocks: map[dump.Clock]int64{}, Facts: map[string]any{"sim.iterations": 10.0}}
	for e := range envs {
		a.man.EnvIDs = append(a.man.EnvIDs, e*7)
	}
	for k, l := range layout {
		n := cols / len(layout)
		if k == 0 {
			n += cols % len(layout)
		}
		rows := envs
		if l.shared {
			rows = 1
		}
		v := tensor.NewArray(tensor.Float32, frames, rows, n)
		for i := range v.Data {
			if i%4 == 3 {
				v.Data[i] = 0x3f // about one
			} else {
				v.Data[i] = byte(i * 31)
			}
		}
		s := &dump.Series{Values: v}
		for i := range frames {
			s.Ticks = append(s.Ticks, int64(i*100+k))
		}
		s.Counts = s.Ticks
		if !l.shared {
			s.EnvIDs = a.man.EnvIDs
		}
		a.series[l.name] = s
		a.man.Fields = append(a.man.Fields, dump.FieldSpec{Name: l.name, Stage: l.stage, Clock: l.clock, Order: l.order, DType: "float32", PerEnv: !l.shared})
	}
	q := a.series["qvel"].Values
	for i := 1; i <= 4; i++ { // the last frames of the first env run away, to NaN
		row := q.Frame(frames - i).Data
		copy(row, []byte{0, 0, 0xc0, byte(0x7f - 16*(i-1))})
	}
	return a
}

// arrays is a Source that hands out what it holds.
type arrays struct {
	loopRun
	series map[string]*dump.Series
}

func (a *arrays) Format() string { return "nanguard-1" }
func (a *arrays) Frames(name string) (*dump.Series, error) {
	s, ok := a.series[name]
	if !ok {
		return nil, dump.ErrNoEntry
	}
	return s, nil
}

// BenchmarkDiagnose measures case and diagnosis of a decoded dump: the promised
// 100 frames x 10 envs x 500 columns, and a small one.
func BenchmarkDiagnose(b *testing.B) {
	for _, s := range []struct{ frames, envs, cols int }{{100, 5, 100}, {100, 10, 500}, {1000, 10, 500}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s.frames, s.envs, s.cols), func(b *testing.B) {
			src := wide(s.frames, s.envs, s.cols)
			b.SetBytes(int64(4 * s.frames * s.envs * s.cols))
			b.ReportAllocs()
			for b.Loop() {
				c, err := NewCase(src)
				if err != nil {
					b.Fatal(err)
				}
				if d := Diagnose(c, DefaultOptions()); d.Verdict == Clean {
					b.Fatal("the runaway was not seen")
				}
			}
		})
	}
}
