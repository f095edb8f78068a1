package recording_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/cmd/viznan/internal/recording"
	"github.com/nanguard/nanguard/cmd/viznan/internal/recording/recordtest"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
	"github.com/nanguard/nanguard/tensor"
)

// load opens a source and loads every field.
func load(src recording.Source) *recording.Recording {
	r := recording.Open(src)
	for i, ok := r.Pending(-1); ok; i, ok = r.Pending(-1) {
		r.Install(r.Load(i))
	}
	return r
}

func names(r *recording.Recording) (list []string) {
	for _, f := range r.Fields {
		list = append(list, f.Name)
	}
	return list
}

func TestOpenReadsTheManifestOnly(t *testing.T) {
	r := recording.Open(recordtest.Sample())
	assert.Equal(t, "nan_dump_20261201_043835.npz", r.Name)
	assert.Equal(t, "mjlab 1.6.0 (nanguard-1)", r.Producer)
	assert.Equal(t, []string{"ncon", "qacc", "qvel", "reward", "normalizer.var"}, names(r), "in the order of the loop")
	assert.Equal(t, []int{14, 30, 40}, []int{r.Envs[0].ID, r.Envs[1].ID, r.Envs[2].ID}, "culprits first")
	_, _, ok := r.Span()
	assert.False(t, ok)
	assert.Equal(t, recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}, r.Start(), "the trip of the manifest")
}

func TestPendingPrefersTheFieldInSight(t *testing.T) {
	r := recording.Open(recordtest.Sample())
	i, ok := r.Pending(2)
	require.True(t, ok)
	assert.Equal(t, 2, i)
	r.Install(r.Load(2))
	i, _ = r.Pending(2)
	assert.Equal(t, 0, i)
}

func TestTimeAxis(t *testing.T) {
	r := load(recordtest.Sample())
	first, last, ok := r.Span()
	require.True(t, ok)
	assert.EqualValues(t, 1, first)
	assert.EqualValues(t, 47, last)
	for _, c := range []struct {
		from int64
		n    int
		want int64
	}{{4, 1, 5}, {5, -1, 4}, {46, 1, 47}, {47, 1, 47}, {1, -1, 1}, {0, 1, 1}, {100, -1, 47}, {1, 10, 11}, {9, 1, 10}, {46, 10, 47}, {3, -10, 1}} {
		assert.Equal(t, c.want, r.Step(c.from, c.n), "%d from %d", c.n, c.from)
	}
}

func TestTrackAt(t *testing.T) {
	r := load(recordtest.Sample())
	reward := r.Fields[3].Frames
	for tick, want := range map[int64]int{5: 0, 9: 0, 10: 1, 46: 8, 47: 9, 1000: 9} {
		i, ok := reward.At(tick)
		assert.True(t, ok)
		assert.Equal(t, want, i, "tick %d", tick)
	}
	_, ok := reward.At(4)
	assert.False(t, ok, "nothing was recorded yet")
}

func TestHealthAndOnsets(t *testing.T) {
	r := load(recordtest.Sample())
	qacc := r.Fields[1].Frames
	row, ok := qacc.Row(14)
	require.True(t, ok)
	frame, ok := qacc.At(44)
	require.True(t, ok)
	assert.Equal(t, recording.HasNaN|recording.HasPosInf, qacc.Health(frame, row)&^recording.HasHuge)
	assert.Equal(t, recording.HasHuge, qacc.Health(frame-1, row)&recording.HasHuge)
	assert.False(t, qacc.Health(frame-1, row).Bad())
	tally := qacc.Tally(frame, row)
	assert.Equal(t, 4, tally.NaN)
	assert.Equal(t, 1, tally.PosInf)
	assert.Equal(t, 5, tally.Bad())
	on, ok := qacc.ColumnOnset(row, 3)
	assert.True(t, ok)
	assert.Equal(t, frame, on)
	_, ok = qacc.ColumnOnset(row, 1)
	assert.False(t, ok)
	assert.True(t, r.Envs[0].Bad)
	assert.EqualValues(t, 44, r.Envs[0].FirstBad)
	assert.False(t, r.Envs[1].Bad)
	_, ok = qacc.Row(999)
	assert.False(t, ok)
}

func TestTraceStandsInForFrames(t *testing.T) {
	r := load(recordtest.Sample())
	f := r.Fields[0]
	track, isTrace := f.Track(false)
	require.NotNil(t, track)
	assert.True(t, isTrace)
	assert.NoError(t, f.Err)
	assert.Equal(t, "absmax", f.Label(3, true))
	assert.Equal(t, 10.0, track.Value(10, 0, 3))
	first, _, _ := r.Span()
	assert.EqualValues(t, 1, first, "a trace reaches back further and does not stretch the axis")
}

func TestFieldWithoutAnything(t *testing.T) {
	s := recordtest.Sample()
	s.M.Fields = append(s.M.Fields, dump.FieldSpec{Name: "gone\x1b[2J"})
	r := load(s)
	f := r.Fields[0]
	assert.Equal(t, `gone\x1b[2J`, f.Name)
	assert.ErrorContains(t, f.Err, "no frame and no trace")
	assert.Equal(t, "[7]", f.Label(7, false))
}

// TestSeriesThatDoesNotFit: what a damaged file hands out is an error of its
// field, never a panic.
func TestSeriesThatDoesNotFit(t *testing.T) {
	for name, damage := range map[string]func(*dump.Series){
		"ticks":  func(s *dump.Series) { s.Ticks = s.Ticks[1:] },
		"counts": func(s *dump.Series) { s.Counts = nil },
		"envs":   func(s *dump.Series) { s.EnvIDs = []int{1} },
		"shape":  func(s *dump.Series) { s.Values.Shape = []int{3} },
		"data":   func(s *dump.Series) { s.Values.Data = s.Values.Data[8:] },
	} {
		s := recordtest.Sample()
		damage(s.Series["qvel"])
		r := load(s)
		assert.ErrorContains(t, r.Fields[2].Err, "does not fit", name)
		assert.Nil(t, r.Fields[2].Frames, name)
	}
}

func TestTicksThatGoBackwards(t *testing.T) {
	s := &recordtest.Source{M: dump.Manifest{EnvIDs: []int{0}}}
	s.Add(dump.FieldSpec{Name: "x", PerEnv: true}, []string{"a"}, []int64{3, 1, 2}, func(f, _, _ int) float64 { return float64(f) })
	x := load(s).Fields[0].Frames
	assert.Equal(t, []float64{1, 2, 0}, x.History(0, 0, 0, 3))
	i, ok := x.At(2)
	assert.True(t, ok)
	assert.Equal(t, 1, i)
}

func TestIntegersAreNeverBad(t *testing.T) {
	a := tensor.NewArray(tensor.Int64, 1, 1, 1)
	for i := range a.Data {
		a.Data[i] = 0x7f
	}
	s := &recordtest.Source{M: dump.Manifest{Fields: []dump.FieldSpec{{Name: "n"}}}}
	s.Series = map[string]*dump.Series{"n": {Ticks: []int64{1}, Counts: []int64{1}, Values: a}}
	n := load(s).Fields[0].Frames
	assert.Zero(t, n.Health(0, 0))
	assert.False(t, n.IsFloat())
}

func TestMarks(t *testing.T) {
	r := load(recordtest.Sample())
	r.Diagnose(recordtest.Diagnosis())
	type mark struct {
		tick  int64
		glyph rune
		text  string
	}
	var got []mark
	for _, m := range r.Marks {
		got = append(got, mark{m.Tick, m.Glyph, m.Text})
	}
	assert.Equal(t, []mark{
		{0, 'D', "dr actuator_gainprm (env 14)"},
		{5, 'R', "reset (env 14)"},
		{17, 'R', "reset (3 envs)"},
		{20, 'G', "graph_capture physics"},
		{38, '!', "qvel growing (env 14)"},
		{44, '✗', "qacc NaN (env 14)"},
		{44, '✗', "qvel NaN (env 14)"},
		{47, '✗', "reward -Inf (env 14)"},
	}, got)
}

func TestNextMark(t *testing.T) {
	r := load(recordtest.Sample())
	for _, c := range []struct {
		tick int64
		dir  int
		want int64
		ok   bool
	}{{5, 1, 20, true}, {20, 1, 44, true}, {44, 1, 47, true}, {47, 1, 0, false}, {44, -1, 20, true}, {6, -1, 5, true}, {0, -1, 0, false}} {
		got, ok := r.Next(c.tick, c.dir, 14)
		assert.Equal(t, c.ok, ok, "%+v", c)
		if ok {
			assert.Equal(t, c.want, got, "%+v", c)
		}
	}
	got, _ := r.Next(5, 1, 30)
	assert.EqualValues(t, 17, got, "a reset of env 30 concerns env 30")
}

// TestStartWithoutTrip: files of other producers name no trip; the frames do.
func TestStartWithoutTrip(t *testing.T) {
	s := recordtest.Sample()
	s.M.Trip, s.M.FirstBad = nil, nil
	r := load(s)
	assert.Equal(t, recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 44}, r.Start())
	assert.Nil(t, r.Trip())
	d := recordtest.Diagnosis()
	r.Diagnose(d)
	assert.Equal(t, "root vx", r.Trip().Column)
}

// TestStartOfFiniteDump: nothing is bad, so the root is looked at, or the last
// frame.
func TestStartOfFiniteDump(t *testing.T) {
	s := &recordtest.Source{M: dump.Manifest{EnvIDs: []int{3}}}
	for _, name := range []string{"obs", dump.StateField} {
		s.Add(dump.FieldSpec{Name: name, PerEnv: true, Order: float64(len(name))}, []string{"a", "b"},
			recordtest.Ticks(1, 9, 1), func(f, _, _ int) float64 { return float64(f) })
	}
	r := load(s)
	assert.Equal(t, recording.Spot{Field: 1, Env: 0, Col: 0, Tick: 9}, r.Start())
	env := 3
	r.Diagnose(&rootcause.Diagnosis{Verdict: "contact-divergence", Root: &rootcause.Onset{Field: "obs", Env: &env, Col: 1, Tick: 4, Class: "huge"}})
	assert.Equal(t, recording.Spot{Field: 0, Env: 0, Col: 1, Tick: 4}, r.Start())
}

func TestEvidenceSpot(t *testing.T) {
	r := load(recordtest.Sample())
	r.Diagnose(recordtest.Diagnosis())
	s, ok := r.EvidenceSpot(r.Diagnosis.Causes[0].Evidence[1])
	require.True(t, ok)
	assert.Equal(t, recording.Spot{Field: 2, Env: 0, Col: 4, Tick: 38}, s)
	_, ok = r.EvidenceSpot(r.Diagnosis.Causes[0].Evidence[2])
	assert.False(t, ok)
	_, ok = r.OnsetSpot(&rootcause.Onset{Field: "not there"})
	assert.False(t, ok)
	_, ok = r.OnsetSpot(nil)
	assert.False(t, ok)
}

func TestWarningsComeOnceAndClean(t *testing.T) {
	s := recordtest.Sample()
	s.Doubts = append(s.Doubts, errors.New("\x1b[31mred"), s.Doubts[0])
	r := load(s)
	r.Diagnose(recordtest.Diagnosis())
	assert.Equal(t, []string{"model.mjb is not beside the dump", `\x1b[31mred`, "no reward term was recorded one by one"}, r.Warnings())
}

func TestDiagnosisIsCleanedAndNotChanged(t *testing.T) {
	d := recordtest.Diagnosis()
	d.Causes[0].Evidence[0].Text = "a\x1bb"
	d.Checklist[0].Fix, d.Root.Column = "\u202e", "\x07"
	r := recording.Open(recordtest.Sample())
	r.Diagnose(d)
	assert.Equal(t, `a\x1bb`, r.Diagnosis.Causes[0].Evidence[0].Text)
	assert.Equal(t, `\u202e`, r.Diagnosis.Checklist[0].Fix)
	assert.Equal(t, `\x07`, r.Diagnosis.Root.Column)
	assert.Equal(t, "a\x1bb", d.Causes[0].Evidence[0].Text, "the caller's diagnosis is left alone")
}

func TestTallyOfNothing(t *testing.T) {
	s := &recordtest.Source{M: dump.Manifest{EnvIDs: []int{0}}}
	s.Add(dump.FieldSpec{Name: "x", PerEnv: true}, []string{"a", "b"}, []int64{1},
		func(_, _, c int) float64 { return []float64{math.NaN(), math.Inf(-1)}[c] })
	tally := load(s).Fields[0].Frames.Tally(0, 0)
	assert.Equal(t, 2, tally.Bad())
	assert.Greater(t, tally.Min, tally.Max)
}

func BenchmarkInstall(b *testing.B) {
	s := &recordtest.Source{M: dump.Manifest{EnvIDs: []int{0, 1, 2, 3, 4, 5, 6, 7}}}
	s.Add(dump.FieldSpec{Name: "x", PerEnv: true}, make([]string, 64), recordtest.Ticks(0, 999, 1),
		func(f, r, c int) float64 { return float64(f + r + c) })
	r := recording.Open(s)
	b.SetBytes(int64(len(s.Series["x"].Values.Data)))
	for b.Loop() {
		r.Install(r.Load(0))
	}
}
