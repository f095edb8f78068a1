package mjb

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

func read(b []byte) (*Model, error) { return NewReader(bytes.NewReader(b), int64(len(b)), "m.mjb") }

// put sets an int32 of a file.
func putInt(b []byte, offset int, v int32) { binary.LittleEndian.PutUint32(b[offset:], uint32(v)) }

// arrayOffset finds an array in a file.
func arrayOffset(t testing.TB, b []byte, name string) int {
	t.Helper()
	h, err := readHeader(bytes.NewReader(b), int64(len(b)), "m.mjb")
	require.NoError(t, err)
	id, err := h.identify(int64(len(b)))
	require.NoError(t, err)
	s := id.find(name)
	require.Positive(t, s.n, name)
	return int(s.offset)
}

func TestVersion(t *testing.T) {
	t.Parallel()
	z := openRich(t)
	for version, want := range map[string]string{
		"3.0.0": "3.0.0", "3.1.0": "3.1.0-3.1.1", "3.1.1": "3.1.0-3.1.1", "3.1.6": "3.1.5-3.1.6", "3.2.2": "3.2.1-3.2.2",
		"3.2.4": "3.2.4-3.2.5", "3.2.7": "3.2.6-3.2.7", "3.3.1": "3.3.1-3.3.2", "3.3.3": "3.3.3",
		"3.3.6": "3.3.6", "3.3.7": "3.3.7", // the same counts, told apart by size
		"3.4.0": "3.4.0", "3.9.0": "3.9.0", "3.10.0": "3.10.0", "4.0.0": "4.0.0", "4.0.1": "4.0.1",
	} {
		_, b := readRich(t, z, version)
		m, err := read(b)
		require.NoError(t, err)
		assert.Equal(t, want, m.Version)
	}
}

func TestNotModel(t *testing.T) {
	t.Parallel()
	negative := readTestdata(t, "box_stack_3.3.7.mjb")
	putInt(negative, 8, -3)
	for name, b := range map[string][]byte{
		"empty": nil, "short": []byte("MJB"), "text": []byte("<mujoco><worldbody/></mujoco>"), "negative": negative,
	} {
		m, err := read(b)
		assert.ErrorIs(t, err, ErrNotModel, name)
		assert.Nil(t, m)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, name := range []string{dir, pipe} {
		_, err := Open(name)
		assert.ErrorContains(t, err, "want a regular file")
		assert.ErrorContains(t, err, name)
	}
	_, err := Open(filepath.Join(dir, "none.mjb"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"box_stack_3.3.7.mjb", "mocap_hand_4.0.0.mjb"} {
		whole := readTestdata(t, name)
		for n := 0; n < len(whole); n += 5 {
			m, err := read(whole[:n])
			require.Error(t, err, "%s cut to %d", name, n)
			require.Nil(t, m)
		}
		_, err := read(append(whole, 0))
		require.Error(t, err)
	}
	b := readTestdata(t, "box_stack_3.3.7.mjb")
	_, err := read(b[:len(b)-4])
	var e *LayoutError
	require.ErrorAs(t, err, &e)
	assert.EqualError(t, err, `model "m.mjb": MuJoCo before 3.5: truncated, damaged, or of a build between releases: `+
		`array mapD2M: 52 bytes at offset 7784, but the file has 7832 (as 3.3.7 writes it)`)
	require.NotNil(t, e.Partial)
	assert.Equal(t, [4]int{15, 13, 0, 0}, [4]int{e.Partial.NQ, e.Partial.NV, e.Partial.NU, e.Partial.NA})
	parts, err := e.Partial.PartsForSize(14, 28)
	require.NoError(t, err)
	assert.Equal(t, "qvel[0]", e.Partial.StateLabels(parts)[15])
}

// TestDamaged sets every word of a model to extreme values. What is read must be
// usable without a panic.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]int{"tiny_4.0.1.mjb": 4, "mocap_hand_4.0.0.mjb": 44} {
		whole := readTestdata(t, name)
		for at := 0; at+4 <= len(whole); at += step {
			for _, v := range []int32{-1, 1, math.MaxInt32, math.MinInt32} {
				b := bytes.Clone(whole)
				putInt(b, at, v)
				m, err := read(b)
				require.NotEqual(t, m == nil, err == nil, "error xor model")
				if m != nil {
					use(m)
				}
			}
		}
	}
}

// use calls everything that works on a model.
func use(m *Model) {
	for _, spec := range []int{0, 14, 19486, 1<<15 - 1} {
		parts, err := m.StateParts(spec)
		if err == nil {
			m.StateLabels(parts)
		}
	}
	m.QposLabels()
	m.DofLabels()
	m.CtrlLabels()
	m.Kinematics(make([]float64, m.NQ), nil, nil)
}

func TestDamagedAddresses(t *testing.T) {
	t.Parallel()
	for array, want := range map[string]string{
		"body_parentid": "body 1 has the parent", "body_mocapid": "body 1 has the mocap id",
		"jnt_type": "joint 1 has the type", "jnt_bodyid": "joint 1 has the body", "jnt_qposadr": "joint 1 begins at qpos",
		"geom_bodyid": "geom 1 has the body", "actuator_actadr": "actuator 1 has 1 activations",
		"actuator_ctrlnum": "actuator 1 has 1000000 controls", "name_jntadr": "name at 1000000",
	} {
		b := readTestdata(t, "mocap_hand_4.0.0.mjb")
		putInt(b, arrayOffset(t, b, array)+4, 1_000_000)
		_, err := read(b)
		var e *LayoutError
		require.ErrorAs(t, err, &e, array)
		assert.Equal(t, "4.0.0", e.Version)
		assert.Contains(t, e.Reason, "damaged: "+want)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	f := &file{names: "\x00left_knee\x00\xff" + strings.Repeat("a", 1000)}
	assert.Equal(t, "", f.name(0))
	assert.Equal(t, "left_knee", f.name(1))
	assert.Equal(t, "knee", f.name(6))
	assert.Len(t, f.name(12), maxName, "cut")
	assert.Equal(t, "aaa", f.name(len(f.names)-3), "the area ends without a NUL")
	require.NoError(t, f.err)
	f.name(len(f.names))
	require.Error(t, f.err)
	f.err = nil
	f.name(-1)
	require.Error(t, f.err)
}

func TestLaterVersion(t *testing.T) {
	t.Parallel()
	b := readTestdata(t, "mocap_hand_4.0.0.mjb")
	putInt(b, 12, 4_002_007)
	m, err := read(b)
	require.NoError(t, err)
	assert.Equal(t, "4.2.7", m.Version)
	require.Len(t, m.Warnings, 1)
	assert.EqualError(t, m.Warnings[0], "MuJoCo 4.2.7 is not a known version: the model is read as one of 4.0.1, which fits to the byte")
	parts, err := m.StateParts(19486)
	require.NoError(t, err)
	assert.Equal(t, 55, width(parts))

	putInt(b, 8, 99) // one more size than any version has
	_, err = read(b)
	var e *LayoutError
	require.ErrorAs(t, err, &e)
	assert.EqualError(t, err, `model "m.mjb": MuJoCo 4.2.7: 0+99 sizes and 489 arrays, as in no known version (3.0.0 to 4.0.1)`)
	require.NotNil(t, e.Partial)
	assert.Equal(t, [4]int{21, 18, 3, 2}, [4]int{e.Partial.NQ, e.Partial.NV, e.Partial.NU, e.Partial.NA})

	putInt(b, 8, 98)
	_, err = read(append(b, 0, 0, 0, 0))
	assert.ErrorContains(t, err, "MuJoCo 4.2.7: not a known version (3.0.0 to 4.0.1), nor laid out as one: "+
		"the file has 17293 bytes, its sizes make 17289")
}

// A version that is known must look as it is known.
func TestOtherBuildOfKnownVersion(t *testing.T) {
	t.Parallel()
	b := readTestdata(t, "mocap_hand_4.0.0.mjb")
	putInt(b, 12, 3_017_000)
	_, err := read(b)
	assert.ErrorContains(t, err, "MuJoCo 3.17.0: 0+98 sizes and 489 arrays, as in no known version")
}

func TestSinglePrecision(t *testing.T) {
	t.Parallel()
	b := readTestdata(t, "mocap_hand_4.0.0.mjb")
	putInt(b, 4, 4)
	_, err := read(b)
	assert.EqualError(t, err, `model "m.mjb": MuJoCo 4.0.0: mjtNum has 4 bytes, want 8`)
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestReaderFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	_, err := NewReader(failing{broken}, 1000, "m.mjb")
	assert.ErrorIs(t, err, broken)
	_, err = NewReader(bytes.NewReader(readTestdata(t, "box_stack_3.3.7.mjb")[:3000]), 7836, "m.mjb")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF) // shorter than it was said to be
}

// padded is a file with a long run of zeros at one place; it counts what is read.
type padded struct {
	b       []byte
	at, n   int64
	read    int64
	touched bool // whether some of the zeros were read
}

func (p *padded) ReadAt(b []byte, offset int64) (int, error) {
	p.read += int64(len(b))
	switch {
	case offset+int64(len(b)) <= p.at:
		return copy(b, p.b[offset:]), nil
	case offset >= p.at+p.n:
		return copy(b, p.b[offset-p.n:]), nil
	}
	p.touched = true
	return len(b), nil
}

// withTexture makes a model that holds n bytes of texture more.
func withTexture(t testing.TB, n int64) *padded {
	b := readTestdata(t, "mocap_hand_4.0.0.mjb")
	h, err := readHeader(bytes.NewReader(b), int64(len(b)), "m.mjb")
	require.NoError(t, err)
	id, err := h.identify(int64(len(b)))
	require.NoError(t, err)
	at, i := id.find("tex_data").offset, 0
	for _, f := range sizeFields {
		if f.name == "ntexdata" {
			break
		}
		if holds(id.version, f.from, f.to) {
			i++
		}
	}
	binary.LittleEndian.PutUint64(b[headerBytes+8*i:], uint64(n))
	return &padded{b: b, at: at, n: n}
}

func (p *padded) size() int64 { return int64(len(p.b)) + p.n }

func TestLargeArraysAreNotRead(t *testing.T) {
	t.Parallel()
	p := withTexture(t, 3<<30)
	m, err := NewReader(p, p.size(), "large.mjb")
	require.NoError(t, err)
	assert.Equal(t, "egg_free", m.Joints[5].Name)
	assert.False(t, p.touched)
	assert.Less(t, p.read, int64(len(p.b)))
}

// unpack writes a packed model of the collection as a file of its full size.
func unpack(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedDir(t), "mjlab_runs", name+".mjb.gz"))
	if err != nil {
		t.Skipf("no model: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), name+".mjb")
	w, err := os.Create(out)
	require.NoError(t, err)
	_, err = io.Copy(w, z)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out
}

func TestRobotModels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		nq, nv, nu    int
		joint, driven string // joint 1 and the one that the last actuator drives
	}{
		{"go1", 19, 18, 12, "robot/FR_hip_joint", "robot/RL_calf_joint"},
		{"g1", 36, 35, 29, "robot/left_hip_pitch_joint", "robot/right_ankle_roll_joint"},
		{"cartpole", 2, 2, 1, "cartpole/hinge_1", "cartpole/slider"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := unpack(t, tt.name)
			var m *Model
			best := time.Hour // of several: the machine may be busy
			for range 5 {
				start := time.Now()
				var err error
				m, err = Open(name)
				best = min(best, time.Since(start))
				require.NoError(t, err)
			}
			assert.Less(t, best, 20*time.Millisecond)
			assert.Equal(t, [3]int{tt.nq, tt.nv, tt.nu}, [3]int{m.NQ, m.NV, m.NU})
			assert.Equal(t, "3.11.0", m.Version)
			assert.Equal(t, tt.joint, m.Joints[1].Name)
			assert.Equal(t, tt.driven, m.Joints[m.Actuators[m.NU-1].Joint].Name)
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"go1", "g1"} {
		b.Run(name, func(b *testing.B) {
			file := unpack(b, name)
			b.ReportAllocs()
			for b.Loop() {
				_, err := Open(file)
				require.NoError(b, err)
			}
		})
	}
	b.Run("texture", func(b *testing.B) {
		p := withTexture(b, 64<<20)
		b.ReportAllocs()
		for b.Loop() {
			_, err := NewReader(p, p.size(), "large.mjb")
			require.NoError(b, err)
		}
	})
}

func BenchmarkStateLabels(b *testing.B) {
	m := open(b, "mocap_hand_4.0.0.mjb")
	parts, err := m.StateParts(0)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		m.StateLabels(parts)
	}
}

func BenchmarkKinematics(b *testing.B) {
	m := open(b, "mocap_hand_4.0.0.mjb")
	b.ReportAllocs()
	for b.Loop() {
		m.Kinematics(m.Qpos0, nil, nil)
	}
}

// FuzzNewReader wants -fuzzminimizetime=20x: to make files of this size smaller
// takes all the time otherwise.
func FuzzNewReader(f *testing.F) {
	for _, name := range []string{"tiny_3.3.7.mjb", "tiny_4.0.1.mjb", "mocap_hand_3.5.0.mjb"} {
		f.Add(readTestdata(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(b)
		if (m == nil) == (err == nil) {
			t.Fatal("want a model or an error")
		}
		if m != nil {
			use(m)
		}
	})
}
