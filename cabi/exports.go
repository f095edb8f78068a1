//go:build cgo

package main

// #include "exports.h"
import "C"

import (
	"unsafe"

	"github.com/nanguard/nanguard/detect"
	"github.com/nanguard/nanguard/internal/version"
)

//export goConfigInit
func goConfigInit(config *C.ng_config, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	def := detect.DefaultConfig()
	*config = C.ng_config{
		struct_size: C.sizeof_ng_config, device: C.NG_DEVICE_AUTO, ring_bytes: C.int64_t(def.RingBytes),
		max_frames: C.int32_t(def.MaxFrames), trace_len: C.int32_t(def.TraceLen), post_frames: C.int32_t(def.PostFrames),
		max_envs: C.int32_t(def.MaxEnvs), control_envs: C.int32_t(def.ControlEnvs), max_dumps: C.int32_t(def.MaxDumps),
	}
	return C.NG_OK
}

//export goGuardNew
func goGuardNew(config C.in_config, guard *C.ng_guard, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	c, err := configOf(config)
	if err != nil {
		return report(err, C.NG_ERR_ARGUMENT, text)
	}
	h := &handle{device: int32(config.device)}
	c.Repeater = &h.repeater
	if h.guard, err = detect.New(c); err != nil {
		return report(err, C.NG_ERR_ARGUMENT, text)
	}
	*guard = C.ng_guard(add(h))
	return C.NG_OK
}

//export goBind
func goBind(guard C.ng_guard, field C.in_field, ref C.in_refs, id *C.int32_t, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	h, err := lookUp("bind", uint64(guard))
	if err != nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	n, err := h.bind(field, ref)
	if err != nil {
		return report(err, C.NG_ERR_ARGUMENT, text)
	}
	*id = C.int32_t(n)
	return C.NG_OK
}

// bind binds a field of a C caller's.
func (h *handle) bind(field C.in_field, ref C.in_refs) (detect.FieldID, error) {
	name, options, err := fieldOf(field, ref)
	if err != nil {
		return -1, err
	}
	r, err := refOf("bind", ref, h.device)
	if err != nil {
		return -1, err
	}
	return h.guard.Bind(name, r, options)
}

//export goCheck
func goCheck(guard C.ng_guard, clock, advance C.int32_t, refs C.in_refs, n C.uint32_t, stream unsafe.Pointer, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	h, err := lookUp("check", uint64(guard))
	if err != nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	if n > 0 && refs == nil {
		return report(wrong("check: %d refs at NULL", n), C.NG_ERR_ARGUMENT, text)
	}
	if err := h.check(clock, advance != 0, unsafe.Slice(refs, int(n)), uintptr(stream)); err != nil {
		return report(err, C.NG_ERR_OFF, text)
	}
	if _, tripped := h.guard.Poll(); tripped {
		return C.NG_TRIPPED
	}
	return C.NG_OK
}

// check is one check of a C caller's.
func (h *handle) check(clock C.int32_t, advance bool, refs []C.ng_ref, stream uintptr) error {
	k, err := clockOf("check", clock)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refs = h.refs[:0]
	h.repeater.caller(clock, advance, refs)
	for i := range refs {
		r, err := refOf("check", &refs[i], h.device)
		if err != nil {
			return err
		}
		h.refs = append(h.refs, detect.FieldRef{ID: detect.FieldID(refs[i].field), Ref: r})
	}
	if advance {
		return h.guard.CheckOn(stream, k, h.refs...)
	}
	return h.guard.CheckSameOn(stream, k, h.refs...)
}

//export goPoll
func goPoll(guard C.ng_guard, wait C.int32_t, verdict *C.ng_verdict, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	h, err := lookUp("poll", uint64(guard))
	if err != nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	look := h.guard.Poll
	if wait != 0 {
		look = h.guard.Wait
	}
	v, tripped := look()
	if !tripped {
		return C.NG_OK
	}
	putVerdict(verdict, v)
	return C.NG_TRIPPED
}

//export goDump
func goDump(guard C.ng_guard, reason C.in_text, suspects C.in_envs, n C.int64_t, path, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	put(path, "")
	h, err := lookUp("dump", uint64(guard))
	if err != nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	envs, err := envsOf("dump", suspects, n)
	if err != nil {
		return report(err, C.NG_ERR_ARGUMENT, text)
	}
	file, err := h.guard.Dump(textOf(reason), envs...)
	put(path, file)
	return report(err, C.NG_ERR_WRITE, text)
}

//export goNote
func goNote(guard C.ng_guard, event C.in_event, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	h, err := lookUp("note", uint64(guard))
	if err != nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	e, err := eventOf(event)
	if err != nil {
		return report(err, C.NG_ERR_ARGUMENT, text)
	}
	h.guard.Note(e)
	return C.NG_OK
}

//export goFact
func goFact(guard C.ng_guard, name, value C.in_text, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	h, err := lookUp("fact", uint64(guard))
	if err != nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	v, err := factOf(textOf(value))
	if err != nil {
		return report(wrong("fact: %q: %w", textOf(name), err), C.NG_ERR_ARGUMENT, text)
	}
	return report(h.guard.Fact(textOf(name), v), C.NG_ERR_ARGUMENT, text)
}

//export goPlan
func goPlan(guard C.ng_guard, plan, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	h, err := lookUp("plan", uint64(guard))
	if err != nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	put(plan, h.guard.Plan())
	return C.NG_OK
}

//export goClose
func goClose(guard C.ng_guard, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	h, err := remove(uint64(guard))
	if err != nil || h == nil {
		return report(err, C.NG_ERR_HANDLE, text)
	}
	err = h.guard.Close()
	h.repeater.close()
	return report(err, C.NG_ERR_WRITE, text)
}

//export goVersion
func goVersion(out, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	put(out, version.String())
	return C.NG_OK
}
