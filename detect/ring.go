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

// push makes room for a frame, over the oldest when the ring is full, and
// returns its bytes for the caller to fill.
func (r *ring) push(tick, count int64) []byte {
	i := r.next
	r.ticks[i], r.counts[i] = tick, count
	r.next = (i + 1) % len(r.ticks)
	r.n = min(r.n+1, len(r.ticks))
	return r.slot(i)
}

// slot returns the bytes of a slot.
func (r *ring) slot(i int) []byte { return r.data[i*r.size : (i+1)*r.size : (i+1)*r.size] }

// oldest returns the slot of the i-th frame, counted from the oldest.
func (r *ring) oldest(i int) int {
	return (r.next - r.n + i + len(r.ticks)) % len(r.ticks)
}

// clear forgets the frames and keeps the memory.
func (r *ring) clear() { r.next, r.n = 0, 0 }
