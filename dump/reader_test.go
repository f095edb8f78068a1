package dump

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzNewReader opens whatever it is given and asks for everything in it: an
// error or a value, never both, never a panic, never more than the limit.
func FuzzNewReader(f *testing.F) {
	for _, pattern := range []string{"bad/*.npz", "unilab/*.npz", "luckylab/*.npz"} {
		files, err := filepath.Glob(filepath.Join("testdata", filepath.FromSlash(pattern)))
		require.NoError(f, err)
		require.NotEmpty(f, files)
		for _, name := range files {
			b, err := os.ReadFile(name)
			require.NoError(f, err)
			f.Add(b)
		}
	}
	f.Add(zipBytes(f, append(fieldX(), manifestOf(manifestWith("")), stateEntry(0, 0), metaEntry(2, 3, nil))...))
	f.Add(zipBytes(f, npyOf("states", "<f8", "(2, 1, 2)", f64(1, 2, 3, 4)), npyOf("meta_detection_step", "<i8", "()", i64(42))))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 8 << 20
		file, err := openBytes(b, Options{MaxBytes: limit})
		if (file == nil) == (err == nil) {
			t.Fatalf("file %v and error %v", file, err)
		}
		if err != nil {
			var format *FormatError
			if !errors.As(err, &format) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		readAll(t, file)
		if used := file.arc.budget.used; used < 0 || used > limit {
			t.Fatalf("%d bytes booked", used)
		}
	})
}

// FuzzContents varies what stands in the entries of a sound zip, which no
// checksum protects from the one who wrote it.
func FuzzContents(f *testing.F) {
	x := fieldX()
	meta := metaEntry(2, 3, nil).data
	pickle := meta[bytes.IndexByte(meta, '\n')+1:]
	f.Add([]byte(manifestWith("")), pickle, x[0].data, x[1].data, stateEntry(1, 0).data, []byte("_nanguard"))
	f.Add([]byte(manifestWith(`,"facts":{"a":NaN},"trip":{"tick":1,"field":"x","env":3,"col":0,"class":"nan"}`)), readPickle(f, "numpy_4.pkl"),
		npyOf("", "<f4", "(2, 2)", make([]byte, 16)).data, npyOf("", "|u1", "(2,)", []byte{9, 4}).data, npyOf("", ">f8", "(3,)", f64(1, 2, 3)).data, []byte("states"))
	f.Add([]byte("{"), readPickle(f, "numpy_3.pkl"), npyOf("", "<f8", "(2, 2, 2)", make([]byte, 64)).data, x[2].data,
		npyOf("", "<f8", "(2, 1, 2)", f64(1, 2, 3, 4)).data, []byte("meta_detection_step"))
	f.Fuzz(func(t *testing.T, manifest, pickle, field, ticks, state, other []byte) {
		entries := []zipEntry{
			{name: "field.x.npy", data: field},
			{name: "field.x.tick.npy", data: ticks},
			{name: "field.x.count.npy", data: ticks},
			{name: "trace.x.npy", data: field},
			{name: "trace.x.tick.npy", data: ticks},
			{name: "trace.x.count.npy", data: ticks},
			{name: "states_step_000001.npy", data: state},
			{name: "mocap_step_000001.npy", data: state},
			{name: "obs_step_000001.npy", data: state},
			{name: "states.npy", data: state},
			npyOf("_metadata", "|O", "()", pickle),
		}
		// The last input chooses the producer: an entry goes or comes.
		switch string(other) {
		case "states":
			entries = entries[9:10]
		case "_nanguard":
			entries = append(entries, manifestOf(string(manifest)))
		case "obs":
			entries = entries[8:9]
		default:
			entries = append(entries, zipEntry{name: string(other) + ".npy", data: field})
		}
		for i := range entries {
			entries[i].store = true
		}
		file, err := openBytes(zipBytes(t, entries...), Options{MaxBytes: 8 << 20})
		if (file == nil) == (err == nil) {
			t.Fatalf("file %v and error %v", file, err)
		}
		if err == nil {
			readAll(t, file)
		}
	})
}

// readAll asks for everything in a file and holds shapes against each other.
func readAll(t *testing.T, f *File) {
	t.Helper()
	names := []string{StateField, "mocap"}
	for _, spec := range f.Manifest().Fields {
		names = append(names, spec.Name)
	}
	for _, name := range names {
		s, err := f.Frames(name)
		if (s == nil) == (err == nil) {
			t.Fatalf("%q: series %v and error %v", name, s, err)
		}
		if err == nil {
			checkSeries(t, name, s)
			if n := len(f.Columns(name)); n != s.Values.Shape[2] {
				t.Fatalf("%q: %d labels for shape %v", name, n, s.Values.Shape)
			}
		}
		tr, err := f.Trace(name)
		if (tr == nil) == (err == nil) {
			t.Fatalf("%q: trace %v and error %v", name, tr, err)
		}
	}
	if info := f.States(); info != nil {
		if s, err := f.Frames(StateField); err == nil && len(info.Steps) != s.Values.Shape[0] {
			t.Fatalf("%d steps for shape %v", len(info.Steps), s.Values.Shape)
		}
	}
	if len(f.Manifest().EnvIDs) != len(f.Manifest().EnvRoles) {
		t.Fatalf("%d envs and %d roles", len(f.Manifest().EnvIDs), len(f.Manifest().EnvRoles))
	}
	f.Model()
	for _, w := range f.Warnings() {
		for _, c := range w.Error() {
			if c < ' ' {
				t.Fatalf("warning %q", w)
			}
		}
	}
}

// checkSeries holds the members of a series against each other.
func checkSeries(t *testing.T, name string, s *Series) {
	t.Helper()
	shape := s.Values.Shape
	if len(shape) != 3 || s.Values.Len()*s.Values.DType.Size() != len(s.Values.Data) || s.Values.Len() == 0 {
		t.Fatalf("%q: %d bytes for shape %v of %v", name, len(s.Values.Data), shape, s.Values.DType)
	}
	if len(s.Ticks) != shape[0] || len(s.Counts) != shape[0] || s.EnvIDs != nil && len(s.EnvIDs) != shape[1] {
		t.Fatalf("%q: %d ticks, %d counts, %d envs for shape %v", name, len(s.Ticks), len(s.Counts), len(s.EnvIDs), shape)
	}
}

// mjlabDump is a dump as mjlab writes it: 100 steps of 5 envs of a humanoid.
func mjlabDump(t testing.TB) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var entries []zipEntry
	for step := range 100 {
		v := make([]float64, 5*47)
		for i := range v {
			v[i] = float64(float32(random.NormFloat64()))
		}
		entries = append(entries, npyOf("states_step_"+string(rune('0'+step/10))+string(rune('0'+step%10)), "<f8", "(5, 47)", f64(v...)))
	}
	return zipBytes(t, append(entries, metaEntry(5, 47, map[string]any{"buffer_size": 100, "num_envs_total": 16}))...)
}

func TestMjlabDump(t *testing.T) {
	t.Parallel()
	f, err := openBytes(mjlabDump(t), Options{})
	require.NoError(t, err)
	assert.Len(t, f.States().Steps, 100)
	assert.Empty(t, f.Warnings())
}

// BenchmarkOpen opens a dump of 100 steps and 5 envs and reads its states.
func BenchmarkOpen(b *testing.B) {
	data := mjlabDump(b)
	path := filepath.Join(b.TempDir(), "nan_dump.npz")
	require.NoError(b, os.WriteFile(path, data, 0o600))
	b.SetBytes(100 * 5 * 47 * 8)
	b.ReportAllocs()
	for b.Loop() {
		f, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Frames(StateField); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

// BenchmarkOpenOnly opens the same dump and reads no array.
func BenchmarkOpenOnly(b *testing.B) {
	data := mjlabDump(b)
	r := bytes.NewReader(data)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewReader(r, int64(len(data)), "", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFrames reads one large field.
func BenchmarkFrames(b *testing.B) {
	values := make([]float64, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = float64(float32(random.NormFloat64()))
	}
	for _, store := range []bool{false, true} {
		big := npyOf("field.x", "<f8", "(1024, 2, 512)", f64(values...))
		big.store = store
		ticks := make([]int64, 1024)
		for i := range ticks {
			ticks[i] = int64(i)
		}
		data := zipBytes(b, big, npyOf("field.x.tick", "<i8", "(1024,)", i64(ticks...)), npyOf("field.x.count", "<i8", "(1024,)", i64(ticks...)),
			manifestOf(manifestWith("")))
		b.Run(map[bool]string{false: "deflated", true: "stored"}[store], func(b *testing.B) {
			b.SetBytes(8 << 20)
			for b.Loop() {
				f, err := openBytes(data, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Frames("x"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnpickle(b *testing.B) {
	data := readPickle(b, "numpy_4.pkl")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := unpickle(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkManyEntries(b *testing.B) {
	data := manySteps(b, 50_000)
	b.SetBytes(50_000 * 24)
	b.ReportAllocs()
	for b.Loop() {
		f, err := openBytes(data, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Frames(StateField); err != nil {
			b.Fatal(err)
		}
	}
}
