package dump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"codeberg.org/sbinet/npyio/npy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/tensor"
)

// readOnly returns the archive of one entry "x".
func readOnly(t testing.TB, data []byte) *archive {
	t.Helper()
	b := zipBytes(t, zipEntry{name: "x.npy", data: data})
	a, warnings, err := newArchive(bytes.NewReader(b), int64(len(b)), newBudget(DefaultMaxBytes))
	require.NoError(t, err)
	require.Empty(t, warnings)
	return a
}

func TestDTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		descr string
		dtype tensor.DType
		bytes []byte
		want  float64
	}{
		{"<f2", tensor.Float16, []byte{0x00, 0xc5}, -5},
		{">f2", tensor.Float16, []byte{0xc5, 0x00}, -5},
		{"<f4", tensor.Float32, []byte{0, 0, 0xc0, 0xbf}, -1.5},
		{">f4", tensor.Float32, []byte{0xbf, 0xc0, 0, 0}, -1.5},
		{"<f8", tensor.Float64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 1.5},
		{">f8", tensor.Float64, []byte{0x3f, 0xf8, 0, 0, 0, 0, 0, 0}, 1.5},
		{"=f8", tensor.Float64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 1.5},
		{"f8", tensor.Float64, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 1.5},
		{"|i1", tensor.Int8, []byte{0xfe}, -2},
		{"<i2", tensor.Int16, []byte{0xfe, 0xff}, -2},
		{">i4", tensor.Int32, []byte{0xff, 0xff, 0xff, 0xfe}, -2},
		{"<i8", tensor.Int64, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -2},
		{"|u1", tensor.Uint8, []byte{200}, 200},
		{">u2", tensor.Uint16, []byte{1, 2}, 258},
		{"<u4", tensor.Uint32, []byte{0xff, 0xff, 0xff, 0xff}, math.MaxUint32},
		{"<u8", tensor.Uint64, []byte{1, 0, 0, 0, 1, 0, 0, 0}, 1<<32 + 1},
		{"|b1", tensor.Bool, []byte{1}, 1},
		{"|V2", tensor.BFloat16, []byte{0x80, 0xbf}, -1},
	} {
		a, err := readOnly(t, npyOf("x", c.descr, "(1,)", c.bytes).data).array("x")
		require.NoError(t, err, c.descr)
		assert.Equal(t, c.dtype, a.DType, c.descr)
		assert.Equal(t, c.want, a.Float64(0), c.descr)
	}
}

// The payload of a NaN is evidence: it stays to the bit.
func TestNaNPayloads(t *testing.T) {
	t.Parallel()
	bits := []uint64{0x7ff0000000000001, 0xfff8000000000000, 0x7fffffffffffffff, 0x7ff0000000000000}
	var little, big []byte
	for _, b := range bits {
		little = binary.LittleEndian.AppendUint64(little, b)
		big = binary.BigEndian.AppendUint64(big, b)
	}
	for _, data := range [][]byte{npyOf("x", "<f8", "(4,)", little).data, npyOf("x", ">f8", "(4,)", big).data} {
		a, err := readOnly(t, data).array("x")
		require.NoError(t, err)
		for i, want := range bits {
			assert.Equal(t, want, a.Bits(i))
		}
	}
}

func TestFortranOrder(t *testing.T) {
	t.Parallel()
	for _, shape := range [][]int{{4}, {2, 3}, {3, 1, 2}, {2, 3, 4}, {1, 2, 1, 3, 2}, {2, 0, 3}} {
		n := tensor.Array{Shape: shape}.Len()
		// The element at an index is its place in C order.
		fortran := make([]float64, n)
		for c := range n {
			at, step, rest := 0, 1, c
			index := make([]int, len(shape))
			for i := len(shape) - 1; i >= 0; i-- {
				index[i] = rest % shape[i]
				rest /= shape[i]
			}
			for i, x := range index {
				at += x * step
				step *= shape[i]
			}
			fortran[at] = float64(c)
		}
		header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': %s, }", shapeText(shape))
		a, err := readOnly(t, append(npyBytes(1, header), f64(fortran...)...)).array("x")
		require.NoError(t, err)
		assert.Equal(t, shape, a.Shape)
		for i := range n {
			assert.Equal(t, float64(i), a.Float64(i), "shape %v", shape)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	header := func(descr, order, shape string) string {
		return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }"
	}
	for _, c := range []struct {
		name, header, want string // want is "" for one that is fine
	}{
		{"plain", header("'<f8'", "False", "(1,)"), ""},
		{"padded", header("'<f8'", "False", "(1,)") + strings.Repeat(" ", 300), ""},
		{"scalar", header("'<f8'", "False", "()"), ""},
		{"garbage", "garbage", "does not parse"},
		{"nothing", "", "does not parse"},
		{"no shape", "{'descr': '<f8', 'fortran_order': False, }", "does not parse"},
		{"order of keys", "{'shape': (1,), 'fortran_order': False, 'descr': '<f8', }", "does not parse"},
		{"order of control codes", header("'<f8'", "\x1b[31m", "(1,)"), `invalid 'fortran_order' value (\x1b[31m)`},
		{"order no bool", header("'<f8'", "1", "(1,)"), "does not parse"},
		{"shape no number", header("'<f8'", "False", "('a',)"), "does not parse"},
		{"shape of floats", header("'<f8'", "False", "(1.0,)"), "does not parse"},
		{"negative", header("'<f8'", "False", "(-1,)"), "negative dimension in shape (-1,)"},
		{"negative twice", header("'<f8'", "False", "(-1, -1)"), "negative dimension"},
		{"beyond int64", header("'<f8'", "False", "(99999999999999999999,)"), "does not parse"},
		{"overflow", header("'<f8'", "False", "(4294967296, 4294967296, 1)"), "more than any file holds"},
		{"overflow to one", header("'<f8'", "False", "(9223372036854775807, 2, 1)"), "more than any file holds"},
		{"overflow hidden by zero", header("'<f8'", "False", "(0, 9223372036854775807)"), "more than any file holds"},
		{"overflow by size", header("'<U16777216'", "False", "(1099511627776,)"), "more than any file holds"},
		{"claims more", header("'<f8'", "False", "(2,)"), "which is 16 bytes, but 8 follow"},
		{"claims less", header("'<f4'", "False", "(1,)"), "which is 4 bytes, but 8 follow"},
		{"33 dimensions", header("'<f8'", "False", "("+strings.Repeat("1, ", 33)+")"), "33 dimensions over limit 32"},
		{"structured", header("[('a', '<f8')]", "False", "(1,)"), "is not a plain one"},
		{"complex", header("'<c8'", "False", "(1,)"), `dtype "<c8" is not one that a dump may hold`},
		{"long double", header("'<f16'", "False", "(1,)"), `dtype "<f16" is not`},
		{"dates", header("'<M8[ns]'", "False", "(1,)"), `dtype "<M8[ns]" is not`},
		{"odd size", header("'<i3'", "False", "(1,)"), `dtype "<i3" is not`},
		{"no size", header("'<f'", "False", "(1,)"), `dtype "<f" is not`},
		{"empty dtype", header("''", "False", "(1,)"), `dtype "" is not`},
		{"huge text", header("'<U999999999'", "False", "(1,)"), `is not one that a dump may hold`},
		{"negative text", header("'<U-1'", "False", "(1,)"), `dtype "<U-1" is not`},
		{"texts of no size", header("'<U0'", "False", "(281474976710656,)"), "of elements without size"},
		{"control codes", header("'\x1b[31m'", "False", "(1,)"), `dtype "\x1b[31m" is not`},
	} {
		for version := byte(1); version <= 3; version++ {
			_, err := readOnly(t, append(npyBytes(version, c.header), f64(1)...)).array("x")
			if c.want == "" {
				assert.NoError(t, err, c.name)
				continue
			}
			require.ErrorContains(t, err, c.want, "%s, version %d", c.name, version)
		}
	}
}

func TestHeaderLengths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, data, want string }{
		{"version 0", "\x93NUMPY\x00\x00\x06\x00abcde\n", "is in version 0.0 of the .npy format; 1 to 3 were expected"},
		{"version 4", "\x93NUMPY\x04\x00\x06\x00\x00\x00abcde\n", "is in version 4.0"},
		{"4 GiB", "\x93NUMPY\x02\x00\xff\xff\xff\xffabcde\n", "header length 4294967295 over limit 65536"},
		{"longer than the entry", "\x93NUMPY\x01\x00\xff\xffabcde\n", "is cut short"},
		{"cut in the length", "\x93NUMPY\x02\x00\x01\x00", "is cut short"},
		{"cut in the magic", "\x93NUM", "is no .npy array: is cut short"},
		{"without end", "\x93NUMPY\x01\x00\x05\x00abcde", "does not parse"},
	} {
		_, err := readOnly(t, []byte(c.data)).array("x")
		require.ErrorContains(t, err, c.want, c.name)
	}
}

func TestTextEntries(t *testing.T) {
	t.Parallel()
	utf32 := func(order binary.AppendByteOrder, s string, n int) []byte {
		var b []byte
		runes := append([]rune(s), make([]rune, n)...)[:n]
		for _, r := range runes {
			b = order.AppendUint32(b, uint32(r))
		}
		return b
	}
	for _, c := range []struct {
		descr, shape string
		data         []byte
		want         any
	}{
		{"<U9", "()", utf32(binary.LittleEndian, "scène.xml", 9), "scène.xml"},
		{">U12", "()", utf32(binary.BigEndian, "scene.xml", 12), "scene.xml"},
		{"<U0", "()", nil, ""},
		{"<U2", "(2,)", append(utf32(binary.LittleEndian, "ab", 2), utf32(binary.LittleEndian, "c", 2)...), []any{"ab", "c"}},
		{"<U1", "()", []byte{0xff, 0xff, 0xff, 0x7f}, "\ufffd"},
		{"|S4", "()", []byte("ab\x00\x00"), "ab"},
		{"|b1", "()", []byte{1}, true},
		{"<u8", "()", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "18446744073709551615"},
		{">i4", "(2,)", []byte{0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff}, []any{int64(7), int64(-1)}},
		{"<f4", "()", []byte{0, 0, 0xc0, 0x7f}, math.NaN()},
	} {
		v, err := readOnly(t, npyOf("x", c.descr, c.shape, c.data).data).value("x")
		require.NoError(t, err, c.descr)
		if f, ok := c.want.(float64); ok && math.IsNaN(f) {
			assert.True(t, math.IsNaN(v.(float64)))
			continue
		}
		assert.Equal(t, c.want, v, c.descr)
	}
}

// npyio is a reader by others: it sees the same numbers.
func TestAgreesWithNpyio(t *testing.T) {
	t.Parallel()
	want := []float64{1, -2.5, math.Inf(1), 4, 5, math.SmallestNonzeroFloat64}
	data := npyOf("x", "<f8", "(2, 3)", f64(want...)).data
	var got []float64
	require.NoError(t, npy.Read(bytes.NewReader(data), &got))
	a, err := readOnly(t, data).array("x")
	require.NoError(t, err)
	assert.Equal(t, got, a.AppendFloat64s(nil, 0, 6))
}

func TestBudget(t *testing.T) {
	t.Parallel()
	b := newBudget(4500)
	require.NoError(t, b.take(3000))
	require.ErrorContains(t, b.take(1), "needs 1 bytes, and 0 bytes of the limit are left; --max-bytes raises it")
	b.give(1000)
	require.NoError(t, b.take(1000))
	require.ErrorContains(t, b.take(-1), "more bytes than can be counted")
	assert.Equal(t, "12.5 KiB", byteSize(12800))
	assert.Equal(t, "1.0 MiB", byteSize(1<<20))
	assert.Equal(t, "1.0 GiB", byteSize(1<<30))
}

// What one File holds is bounded over all of its arrays together.
func TestBudgetIsOfTheFile(t *testing.T) {
	t.Parallel()
	field := func(name string) []zipEntry {
		return []zipEntry{
			npyOf("field."+name, "<f8", "(1, 1, 4000)", make([]byte, 32000)),
			npyOf("field."+name+".tick", "<i8", "(1,)", i64(1)), npyOf("field."+name+".count", "<i8", "(1,)", i64(1)),
		}
	}
	var fields []string
	for _, name := range []string{"a", "b", "c"} {
		fields = append(fields, `{"name":"`+name+`","stage":"obs","clock":"step","dtype":"float64","per_env":true}`)
	}
	entries := slices.Concat(field("a"), field("b"), field("c"), []zipEntry{
		manifestOf(`{"format":"nanguard-dump","version":1,"num_envs":1,"env_ids":[0],"env_roles":["control"],"fields":[` + strings.Join(fields, ",") + `]}`),
	})
	f, err := openBytes(zipBytes(t, entries...), Options{MaxBytes: 768 << 10})
	require.NoError(t, err)
	_, err = f.Frames("a")
	require.NoError(t, err)
	_, err = f.Frames("b")
	require.NoError(t, err)
	_, err = f.Frames("c")
	require.ErrorContains(t, err, `entry "field.c": labels for 4000 columns: needs 191.4 KiB, and 22.8 KiB of the limit are left`)
	assert.Contains(t, warnText(f), `entry "field.c": labels for 4000 columns: needs`)
	var format *FormatError
	require.ErrorAs(t, err, &format)
	assert.Equal(t, "field.c", format.Entry)
}

func FuzzNPY(f *testing.F) {
	f.Add(npyOf("x", "<f8", "(2, 3)", f64(1, 2, 3, 4, 5, 6)).data)
	f.Add(npyOf("x", ">i4", "(1,)", []byte{0, 0, 0, 1}).data)
	f.Add(npyOf("x", "<U2", "()", make([]byte, 8)).data)
	f.Add(append(npyBytes(3, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }"), make([]byte, 8)...))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := readOnly(t, data)
		before := a.budget.used
		arr, err := a.array("x")
		if (err == nil) == (arr.DType == tensor.Invalid) {
			t.Fatalf("array %v and error %v", arr.DType, err)
		}
		if err == nil && (arr.Len()*arr.DType.Size() != len(arr.Data) || len(arr.Data) > len(data)) {
			t.Fatalf("%d bytes for shape %v of %v, in %d", len(arr.Data), arr.Shape, arr.DType, len(data))
		}
		if err != nil && a.budget.used != before {
			t.Fatalf("%d bytes stay booked after %v", a.budget.used-before, err)
		}
		if v, err := a.value("x"); (v == nil) == (err == nil) {
			t.Fatalf("value %v and error %v", v, err)
		}
	})
}
