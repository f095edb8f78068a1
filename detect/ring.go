package detect

// ring keeps the last frames of one field, all rows of it, in memory that is
// taken once.
type ring struct {
	size   int    // bytes of a frame
	data   []byte // len(ticks) frames
	ticks  []int64
	counts []int64
	next   int // slot of the next frame
	n      int // frames held
}

// newRing returns an empty ring for the given number of frames.
func newRing(frames, size int) ring {
	return ring{
		size: size, data: make([]byte, frames*size),
		ticks: make([]int64, frames), counts: make([]int64, frames),
	}
}

// resized returns a ring for another number of frames with the newest of r, or r
// itself when the number is the same.
func (r *ring) resized(frames, size int) ring {
	if len(r.ticks) == frames {
		return *r
	}
	out := newRing(frames, size)
	for i := max(0, r.n-frames); i < r.n; i++ {
		k := r.oldest(i)
		copy(out.room(), r.slot(k))
		out.push(r.ticks[k], r.counts[k])
	}
	return out
}

// room returns the bytes of the next frame for the caller to fill. When the
// ring is full they are those of the oldest frame, which is given up.
func (r *ring) room() []byte {
	r.n = min(r.n, len(r.ticks)-1)
	return r.slot(r.next)
}

// push makes the frame that room gave the newest.
func (r *ring) push(tick, count int64) {
	r.ticks[r.next], r.counts[r.next] = tick, count
	r.next = (r.next + 1) % len(r.ticks)
	r.n++
}

// newest returns the bytes of the newest frame.
func (r *ring) newest() []byte { return r.slot(r.oldest(r.n - 1)) }

// slot returns the bytes of a slot.
func (r *ring) slot(i int) []byte { return r.data[i*r.size : (i+1)*r.size : (i+1)*r.size] }

// oldest returns the slot of the i-th frame, counted from the oldest.
func (r *ring) oldest(i int) int {
	return (r.next - r.n + i + len(r.ticks)) % len(r.ticks)
}

// ticksHeld returns the ticks of the frames, oldest first.
func (r *ring) ticksHeld() []int64 {
	ticks := make([]int64, r.n)
	for i := range ticks {
		ticks[i] = r.ticks[r.oldest(i)]
	}
	return ticks
}

// clear forgets the frames and keeps the memory.
func (r *ring) clear() { r.next, r.n = 0, 0 }
