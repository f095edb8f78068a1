package dump

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readPickle(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "pickle", name))
	require.NoError(t, err)
	return b
}

func TestUnpickleProtocols(t *testing.T) {
	t.Parallel()
	for protocol := range 6 {
		m, err := unpickle(readPickle(t, fmt.Sprintf("plain_%d.pkl", protocol)))
		require.NoError(t, err, "protocol %d", protocol)
		assert.Equal(t, []string{"i", "neg", "big", "huge", "f", "b", "n", "s", "l", "t", "e", "inf", "7"}, m.Keys)
		assert.Equal(t, map[string]any{
			"i": int64(1), "neg": int64(-2), "big": int64(1) << 62, "huge": "1180591620717411303424", "f": 1.5,
			"b": true, "n": nil, "s": "µ\n'\\", "l": []any{int64(1), []any{int64(2), "x"}}, "t": []any{int64(1), int64(2)},
			"e": []any{}, "inf": math.Inf(-1), "7": "seven",
		}, m.Values, "protocol %d", protocol)
	}
}

func TestUnpickleNumpy(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"numpy_3.pkl", "numpy_4.pkl"} {
		m, err := unpickle(readPickle(t, name))
		require.NoError(t, err, name)
		assert.Equal(t, map[string]any{
			"ids": []any{int64(3), int64(5)}, "u1": int64(200), "f4": 0.5, "f2": 2.0, "b": true, "str": "héllo",
			"two": []any{[]any{int64(0), int64(1), int64(2)}, []any{int64(3), int64(4), int64(5)}},
			"be":  []any{int64(1), int64(-2)}, "strs": []any{"ab", "c"}, "o": []any{int64(1), "x", nil}, "zero": int64(7),
			"date": `(dtype "M8" is not one that a dump may hold)`, "dates": `(array: dtype "M8" is not one that a dump may hold)`,
			"big": "18446744073709551615", "empty": []any{}, "od": map[string]any{"z": int64(1), "a": int64(2)},
			"f": "(array in Fortran order)", "raw": "bytes",
		}, m.Values, name)
	}
	m, err := unpickle(readPickle(t, "set_4.pkl"))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"s": []any{int64(1)}, "f": []any{int64(2)}}, m.Values)
}

func TestUnpickleNumpy1Spelling(t *testing.T) {
	t.Parallel()
	b := bytes.ReplaceAll(readPickle(t, "numpy_3.pkl"), []byte("numpy._core."), []byte("numpy.core."))
	m, err := unpickle(b)
	require.NoError(t, err)
	assert.Equal(t, []any{int64(3), int64(5)}, m.Get("ids"))
}

// Keys are whatever Python allows; the later of two equal ones counts.
func TestUnpickleKeys(t *testing.T) {
	t.Parallel()
	m, err := unpickle([]byte("(dNI1\nsI01\nI2\nsF1.5\nI3\nsC\x01bI4\nsI7\nI5\nsS'x'\nI6\nsS'x'\n2s."))
	require.NoError(t, err)
	assert.Equal(t, []string{"None", "true", "1.5", "b", "7", "x"}, m.Keys)
	assert.Equal(t, "x", m.Get("x"))
	assert.Equal(t, int64(5), m.Get("7"))
	assert.Nil(t, m.Get("none"))
	assert.Nil(t, (*Metadata)(nil).Get("none"))
	m, err = unpickle([]byte("ccollections\nOrderedDict\n((lp0\n(S'b'\nI1\nta(lp1\nS'a'\naI2\naatR."))
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a"}, m.Keys)
	_, err = unpickle([]byte("ccollections\nOrderedDict\n((lI1\natR."))
	require.ErrorContains(t, err, "makes a dict of what are no pairs")
}

// protocol-0 text of a dict with one value.
func dictOf(value string) string { return "(dS'k'\n" + value + "s." }

func TestUnpickleRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, pickle, want string }{
		{"call of os.system", "cos\nsystem\n(S'id'\ntR.", `asks for the global "os.system"`},
		{"by stack", "\x80\x04\x8c\x08builtins\x8c\x04exec\x93.", `asks for the global "builtins.exec"`},
		{"inside a value", dictOf("cbuiltins\neval\n"), `"builtins.eval"`},
		{"instance", "(ios\nsystem\n.", `asks for the global "os.system"`},
		{"instance of a plain global", "(inumpy\nndarray\n.", `asks for the global "numpy.ndarray"`},
		{"dotted name", "cnumpy\ncore.multiarray._reconstruct\n.", `"numpy.core.multiarray._reconstruct"`},
		{"numpy but not data", "cnumpy.core.numeric\n_frombuffer\n.", `"numpy.core.numeric._frombuffer"`},
		{"codec", "c_codecs\nencode\n.", `"_codecs.encode"`},
		{"control codes", "cos\x1b[31m\nsystem\n.", `"os\x1b[31m.system"`},
		{"long name", "c" + strings.Repeat("a", 5000) + "\nb\n.", `aaa…"`},
		{"persistent id", "Pid\n.", "opcode 0x50 is not one of plain data"},
		{"binary persistent id", "NQ.", "opcode 0x51"},
		{"extension", "\x82\x01.", "opcode 0x82"},
		{"object", "(cnumpy\nndarray\no.", "opcode 0x6f"},
		{"new object with keywords", "cnumpy\nndarray\n)}\x92.", "opcode 0x92"},
		{"outside buffer", "\x97.", "opcode 0x97"},
		{"ndarray called", "cnumpy\nndarray\n(I9999999999\ntR.", "calls numpy.ndarray with arguments"},
		{"ndarray made", "cnumpy\nndarray\n(I9999999999\nt\x81.", "calls numpy.ndarray with arguments"},
		{"call of a text", "S'os.system'\n)R.", "calls a string"},
		{"call without a tuple", "ccollections\nOrderedDict\n]R.", "calls with a list for arguments"},
		{"state of a list", "])b.", "sets a state that a list does not have"},
		{"no dict", "].", "pickle holds a list; a dict was expected"},
		{"a global", "cnumpy\nndarray\n.", "pickle holds numpy.ndarray; a dict was expected"},
		{"empty", "", "ends in the middle"},
		{"nothing on the stack", ".", "takes an object that is not there"},
		{"mark on top", "(.", "takes an object that is not there"},
		{"group not opened", "]e.", "closes a group that was not opened"},
		{"append to a dict", "}Na.", "meets a dict where another kind of object was expected"},
		{"key without a value", "}(Nu.", "gives a dict a key without a value"},
		{"list as key", "}]Ns.", "a list is the key of a dict"},
		{"not remembered", "h\x05.", "recalls object 5"},
		{"no number", "gx\n.", `recalls object "x"`},
		{"string without quotes", "Sabc\n.", "string without its quotes"},
		{"bad int", "Ix\n.", `integer "x" does not parse`},
		{"bad float", "Fx\n.", `float "x" does not parse`},
		{"count beyond the end", "T\xff\xff\xff\x7fab.", "ends in the middle"},
		{"count of 64 bits", "\x8d\xff\xff\xff\xff\xff\xff\xff\xffab.", "ends in the middle"},
		{"huge digits", "I" + strings.Repeat("9", 5000) + "\n.", "integer of 5000 digits over limit 2048"},
		{"huge long", "\x8b\x00\x08\x00\x00" + strings.Repeat("x", 2048) + ".", "integer of 2048 bytes over limit 1024"},
	} {
		_, err := unpickle([]byte(c.pickle))
		require.ErrorContains(t, err, c.want, c.name)
		assert.Less(t, len(err.Error()), 250, c.name)
	}
}

// arrayPickle is the pickle of an array with the given state.
func arrayPickle(shape, dtype, data string) string {
	return "(dS'k'\ncnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR" +
		"(I1\n" + shape + "cnumpy\ndtype\n(S'" + dtype + "'\nI0\nI1\ntRI00\n" + data + "tbs."
}

func TestUnpickleArrays(t *testing.T) {
	t.Parallel()
	m, err := unpickle([]byte(arrayPickle("(I2\nt", "i1", "C\x02\x05\xff")))
	require.NoError(t, err)
	assert.Equal(t, []any{int64(5), int64(-1)}, m.Get("k"))
	for _, c := range []struct{ name, shape, dtype, data, want string }{
		{"too few elements", "(I3\nt", "i1", "C\x02ab", "array of shape (3,) with 2 elements"},
		{"negative", "(I-3\nt", "i1", "C\x02ab", "negative dimension"},
		{"huge", "(I99999999999\nt", "i1", "C\x02ab", "array of 99999999999 elements over limit"},
		{"overflow", "(I4611686018427387904\nI4\nt", "i1", "C\x02ab", "more than any file holds"},
		{"dimensions", "(" + strings.Repeat("I1\n", 33) + "t", "i1", "C\x01a", "array of 33 dimensions over limit 32"},
		{"text in shape", "(S'x'\nt", "i1", "C\x01a", "array with a string in its shape"},
		{"objects without a list", "(I1\nt", "O8", "C\x01a", "array of objects without its list"},
	} {
		_, err := unpickle([]byte(arrayPickle(c.shape, c.dtype, c.data)))
		require.ErrorContains(t, err, c.want, c.name)
	}
}

// Objects that hold themselves, and small pickles that stand for endless trees,
// end in an error after little time and memory.
func TestUnpickleIsBounded(t *testing.T) {
	big := strings.Repeat("N", 60_000)
	doubling := "]p0\n0" // each list holds the one before twice
	for i := range 60 {
		doubling += fmt.Sprintf("]p%d\ng%d\nag%d\na0", i+1, i, i)
	}
	nested := strings.Repeat("(l", 70)
	for _, c := range []struct{ name, pickle, want string }{
		{"list in itself", "(dS'k'\n]p0\ng0\nas.", "nested deeper than 64"},
		{"dict in itself", "(dp0\nS'k'\ng0\ns.", "nested deeper than 64"},
		{"array in itself", "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntRp0\n" +
			"(I1\n(tcnumpy\ndtype\n(S'O8'\ntRI00\n(lg0\natb.", "pickle holds an array"},
		{"doubling", dictOf(doubling + "g60\n"), "more than"},
		{"deep", "(dS'k'\n" + nested + strings.Repeat("a", 69) + "s.", "nested deeper than 64"},
		{"200,000 lists", strings.Repeat("]", 200_000), "nested too deep"},
		{"appends", "(dS'k'\n]p0\n(" + big + "e" + strings.Repeat("(g0\ng0\ng0\n1", 10) + strings.Repeat("("+big+"e", 20) + "s.", "more than 1048576 objects"},
		{"tuples of tuples", strings.Repeat("N", 100) + strings.Repeat("\x85", 2_000_000), "more than 1048576 objects"},
		{"marks", strings.Repeat("(", 2_000_000), "at once"},
		{"memo", "N" + strings.Repeat("\x94", 2_000_000), "more than 1048576 objects"},
		{"pairs again and again", "ccollections\nOrderedDict\np1\n0(l" + strings.Repeat("(NNta", 5000) + "p0\n0" +
			strings.Repeat("g1\n(g0\ntR0", 100_000), "more than 1048576 objects"},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		_, err := unpickle([]byte(c.pickle))
		spent := time.Since(begin)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, c.want, c.name)
		assert.Less(t, spent, 3*time.Second, c.name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(400<<20), c.name)
	}
}

// Every prefix of a sound pickle is an error.
func TestUnpicklePrefixes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain_0.pkl", "plain_2.pkl", "numpy_3.pkl", "numpy_4.pkl"} {
		b := readPickle(t, name)
		for n := range b {
			_, err := unpickle(b[:n])
			require.Error(t, err, "%s, %d bytes", name, n)
		}
	}
}

func FuzzUnpickle(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "pickle", "*.pkl"))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, name := range files {
		f.Add(readPickle(f, filepath.Base(name)))
	}
	f.Add([]byte("cos\nsystem\n(S'id'\ntR."))
	f.Add([]byte("(dS'k'\n]p0\ng0\nas."))
	f.Add([]byte(arrayPickle("(I2\nt", "i1", "C\x02\x05\xff")))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := unpickle(b)
		if (m == nil) == (err == nil) {
			t.Fatalf("value %v and error %v", m, err)
		}
		if err == nil && len(m.Keys) != len(m.Values) {
			t.Fatalf("%d keys and %d values", len(m.Keys), len(m.Values))
		}
	})
}
