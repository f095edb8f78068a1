package detect

import (
	"errors"
	"unsafe"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/internal/cuda"
	"github.com/nanguard/nanguard/tensor"
)

// staging is memory of the host that the GPU can read, through which fields in
// memory of the host reach the checks on a GPU. It is filled part by part. A
// part is used again once the GPU has done the checks that read it: the loop
// waits only when the GPU is three parts behind, tens of thousands of checks of
// a few numbers.
type staging struct {
	ctx  *cuda.Context
	room int // bytes that one check needs at most
	stagingMemory
	old []stagingMemory // that became too small; checks may still read it
}

// stagingMemory is memory in parts.
type stagingMemory struct {
	memory cuda.Shared
	parts  [4]stagingPart
	size   int // bytes of a part
	part   int // that is being filled
	used   int // bytes of it
}

// stagingPart is a part that may have been sent.
type stagingPart struct {
	event cuda.Event // behind the last check that reads it
	sent  bool
}

// stagingMin is how large a part is at least.
const stagingMin = 256 << 10

// stagingBytes returns the room that a field takes.
func stagingBytes(f *field) int { return (f.ref.Bytes() + 15) &^ 15 }

// grow makes room for checks that need so much, none at first.
func (s *staging) grow(room int) error {
	if s.size-s.used >= room {
		s.room = room
		return nil
	}
	m := stagingMemory{size: max(room, stagingMin)}
	if err := m.take(s.ctx); err != nil {
		return errors.Join(err, m.giveBack(s.ctx))
	}
	if s.size > 0 {
		s.old = append(s.old, s.stagingMemory)
	}
	s.stagingMemory, s.room = m, room
	return nil
}

// take takes the memory.
func (m *stagingMemory) take(ctx *cuda.Context) (err error) {
	if m.memory, err = ctx.Share(len(m.parts) * m.size); err != nil {
		return err
	}
	for i := range m.parts {
		if m.parts[i].event, err = ctx.NewEvent(false); err != nil {
			return err
		}
	}
	return nil
}

// put copies a field and returns the address for the GPU.
func (s *staging) put(ref *tensor.Ref) uintptr {
	at := s.part*s.size + s.used
	n := ref.Bytes()
	scan.Copy(unsafe.Slice((*byte)(unsafe.Add(s.memory.Base, at)), n), *ref)
	s.used += (n + 15) &^ 15
	return uintptr(s.memory.Device) + uintptr(at)
}

// sent takes note of a check that reads what was put. When the part is full, it
// moves on to the next.
func (s *staging) sent(stream cuda.Stream) error {
	if s.size-s.used >= s.room {
		return nil
	}
	p := &s.parts[s.part]
	if err := s.ctx.Record(p.event, stream); err != nil {
		return err
	}
	p.sent = true
	s.part, s.used = (s.part+1)%len(s.parts), 0
	if p = &s.parts[s.part]; p.sent {
		return s.ctx.SynchronizeEvent(p.event)
	}
	return nil
}

// close gives the memory back. The checks must be done.
func (s *staging) close() error {
	errs := []error{s.giveBack(s.ctx)}
	for i := range s.old {
		errs = append(errs, s.old[i].giveBack(s.ctx))
	}
	return unlessLost(errors.Join(errs...))
}

// giveBack gives the memory back.
func (m *stagingMemory) giveBack(ctx *cuda.Context) error {
	var errs []error
	for _, p := range m.parts {
		if p.event != 0 {
			errs = append(errs, ctx.DestroyEvent(p.event))
		}
	}
	if m.memory.Base != nil {
		errs = append(errs, ctx.Unshare(m.memory))
	}
	return errors.Join(errs...)
}

// unlessLost forgets an error that says that the context is lost: then there is
// nothing to give back.
func unlessLost(err error) error {
	if errors.Is(err, cuda.ErrContextLost) {
		return nil
	}
	return err
}
