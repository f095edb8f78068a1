//go:build cgo

package main

// #include "exports.h"
import "C"

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
	"unsafe"

	"github.com/nanguard/nanguard/detect"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// clocks holds the clocks by their number in C.
var clocks = [...]dump.Clock{
	C.NG_CLOCK_DEFAULT: "", C.NG_SUBSTEP: dump.ClockSubstep, C.NG_STEP: dump.ClockStep,
	C.NG_MINIBATCH: dump.ClockMinibatch, C.NG_UPDATE: dump.ClockUpdate,
}

// clockOf returns the clock of a number.
func clockOf(call string, n C.int32_t) (dump.Clock, error) {
	if n < 0 || int(n) >= len(clocks) {
		return "", wrong("%s: unknown clock %d", call, n)
	}
	return clocks[n], nil
}

// configOf returns what a C caller asks for. Its zeros mean the default, as
// detect's do.
func configOf(c C.in_config) (detect.Config, error) {
	config := detect.Config{
		NumEnvs: int(c.num_envs), Dir: textOf(c.dir), Model: textOf(c.model),
		RingBytes: int64(c.ring_bytes), MaxFrames: int(c.max_frames), TraceLen: int(c.trace_len),
		PostFrames: int(c.post_frames), MaxEnvs: int(c.max_envs), ControlEnvs: int(c.control_envs),
		MaxDumps: int(c.max_dumps), StateSpec: int(c.state_spec),
		Cooldown: time.Duration(float64(c.cooldown_s) * float64(time.Second)),
	}
	if !(c.cooldown_s >= 0 && c.cooldown_s < 1e9) {
		return config, wrong("guard_new: cooldown of %v s", float64(c.cooldown_s))
	}
	if c.device < C.NG_DEVICE_AUTO {
		return config, wrong("guard_new: unknown device %d", c.device)
	}
	if c.run_json == nil {
		return config, nil
	}
	d := json.NewDecoder(bytes.NewBufferString(textOf(c.run_json)))
	d.DisallowUnknownFields()
	if err := d.Decode(&config.Run); err != nil {
		return config, wrong("guard_new: run_json: %w", err)
	}
	return config, nil
}

// fieldOf returns what a C caller says of a field.
func fieldOf(f C.in_field, ref C.in_refs) (name string, o detect.FieldOptions, err error) {
	if f.name == nil {
		return "", o, wrong("bind: name is NULL")
	}
	name = textOf(f.name)
	clock, err := clockOf("bind", f.clock)
	if err != nil {
		return name, o, err
	}
	if f.n_cols != 0 && (f.cols == nil || f.n_cols != ref.cols) {
		return name, o, wrong("bind: field %q: %d labels for %d columns", name, f.n_cols, ref.cols)
	}
	o = detect.FieldOptions{
		Stage: dump.Stage(textOf(f.stage)), Clock: clock, Order: float64(f.order), Unit: textOf(f.unit), Shared: f.shared != 0,
		Limit:  float64(f.limit),
		Growth: detect.Growth{Factor: float64(f.growth_factor), Frames: int(f.growth_frames), Floor: float64(f.growth_floor)},
	}
	if f.n_cols > 0 {
		for i, label := range unsafe.Slice(f.cols, int(f.n_cols)) {
			if label == nil {
				return name, o, wrong("bind: field %q: label %d is NULL", name, i)
			}
			o.Cols = append(o.Cols, C.GoString(label))
		}
	}
	return name, o, nil
}

// refOf returns where the elements of a field are. Of the numbers only those
// are looked at that package detect could not see through.
func refOf(call string, r *C.ng_ref, device int32) (tensor.Ref, error) {
	ref := tensor.Ref{
		DType: tensor.DType(r.dtype), Rows: int(r.rows), Cols: int(r.cols),
		RowStride: int(r.row_stride), ColStride: int(r.col_stride),
	}
	if r.struct_size != C.sizeof_ng_ref {
		return ref, wrong("%s: struct_size of ng_ref is %d, want %d", call, r.struct_size, C.sizeof_ng_ref)
	}
	if r.dtype < 0 || r.dtype > C.NG_BOOL {
		return ref, wrong("%s: unknown dtype %d", call, r.dtype)
	}
	if r.rows < 0 || r.cols < 0 || r.cols > 0 && r.rows > math.MaxInt64/16/r.cols {
		return ref, wrong("%s: %d rows x %d columns", call, r.rows, r.cols)
	}
	switch {
	case r.memory == C.NG_HOST:
		ref.Base = r.address
		return ref, nil
	case r.memory != C.NG_CUDA:
		return ref, wrong("%s: unknown kind of memory %d", call, r.memory)
	case device == C.NG_DEVICE_HOST:
		return ref, wrong("%s: an array of CUDA device %d, and the guard was made for the host", call, r.device)
	case device >= 0 && device != int32(r.device):
		return ref, wrong("%s: an array of CUDA device %d, and the guard was made for device %d", call, r.device, device)
	}
	ref.Mem, ref.Device, ref.Addr = tensor.CUDA, int(r.device), uintptr(r.address)
	return ref, nil
}

// eventOf returns an event of a C caller's.
func eventOf(e C.in_event) (dump.Event, error) {
	event := dump.Event{Kind: textOf(e.kind), Name: textOf(e.name), Count: int(e.count)}
	if event.Kind == "" {
		return event, wrong("note: kind is missing")
	}
	envs, err := envsOf("note", e.envs, e.n_envs)
	if err != nil {
		return event, err
	}
	event.Envs = envs
	if e.detail_json == nil {
		return event, nil
	}
	if err := json.Unmarshal([]byte(textOf(e.detail_json)), &event.Detail); err != nil {
		return event, wrong("note: detail_json: %w", err)
	}
	return event, nil
}

// envsOf returns a list of envs.
func envsOf(call string, envs C.in_envs, n C.int64_t) ([]int, error) {
	if n < 0 || n > math.MaxInt32 || n > 0 && envs == nil {
		return nil, wrong("%s: list of %d envs at %p", call, n, envs)
	}
	var list []int
	for _, e := range unsafe.Slice(envs, int(n)) {
		list = append(list, int(e))
	}
	return list, nil
}

// factOf returns the value of a fact: a JSON number, string or bool, or a
// number that JSON does not know.
func factOf(text string) (any, error) {
	switch text {
	case "NaN", "Infinity", "-Infinity":
		return strconv.ParseFloat(text, 64)
	}
	d := json.NewDecoder(bytes.NewBufferString(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return nil, fmt.Errorf("value %q is not JSON", text)
	}
	n, ok := v.(json.Number)
	if !ok {
		return v, nil
	}
	if whole, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return whole, nil
	}
	return n.Float64()
}

// classes holds the numbers of the classes in C.
var classes = map[string]C.int32_t{
	tensor.NaN.String(): C.NG_NAN, tensor.PosInf.String(): C.NG_POSINF, tensor.NegInf.String(): C.NG_NEGINF,
	detect.ClassLimit: C.NG_LIMIT, detect.ClassGrowth: C.NG_GROWTH,
}

// putVerdict fills in a verdict, which is all zero.
func putVerdict(to *C.ng_verdict, v detect.Verdict) {
	to.tick, to.count, to.col = C.int64_t(v.Trip.Tick), C.int64_t(v.Trip.Count), C.int64_t(v.Trip.Col)
	to.number = C.int64_t(v.Number)
	to.env = -1
	if v.Trip.Env != nil {
		to.env = C.int64_t(*v.Trip.Env)
	}
	to.value_class = classes[v.Trip.Class]
	for n, clock := range clocks {
		if clock == v.Trip.Clock {
			to.clock = C.int32_t(n)
		}
	}
	if v.Done {
		to.done = 1
	}
	fill(bytesOf(to.field[:]), v.Trip.Field)
	fill(bytesOf(to.path[:]), v.Path)
	if v.Error != nil {
		fill(bytesOf(to.error[:]), v.Error.Error())
	}
}

// bytesOf returns the bytes of an array of C characters.
func bytesOf(c []C.char) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&c[0])), len(c)) }

// textOf returns a C string, "" for NULL.
func textOf(s C.in_text) string { return C.GoString(s) }
