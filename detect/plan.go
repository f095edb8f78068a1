package detect

import (
	"fmt"
	"slices"
	"strings"
)

// minFrames is what every field keeps at least: a frame and the one before it.
const minFrames = 2

// plan returns how many frames of each field the ring's memory buys when all
// fields are known before the first check. On a GPU some of it is kept back for
// those that are not.
func (g *Guard) plan() ([]int, error) {
	if need := g.leastBytes(g.fields); need > g.cfg.RingBytes {
		return nil, misuse("check", "", "ring of %s cannot hold %d frames of each field: %s are needed (%s)",
			inUnits(g.cfg.RingBytes), g.leastFrames(), inUnits(need), g.frameSizes())
	}
	return g.shareOut(g.fields, g.cfg.RingBytes-g.reserve(g.fields)), nil
}

// shareOut returns how many frames of each field some memory buys, which is
// enough for the least.
//
// Each field gets the frames that it cannot do without; what is left is shared
// out in equal parts, and what a small field cannot use (it needs no more than
// MaxFrames) goes to the others. The parts of the simulator's state keep
// equally many frames, since a state needs all of them.
func (g *Guard) shareOut(fields []*field, memory int64) []int {
	least := g.leastFrames()
	most := max(g.cfg.MaxFrames, least)
	left := memory - g.leastBytes(fields)
	frames := make([]int, len(fields))
	bySize := make([]int, len(fields))
	for i := range fields {
		frames[i], bySize[i] = least, i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return fields[a].ref.Bytes() - fields[b].ref.Bytes() })
	for k, i := range bySize {
		size := int64(fields[i].ref.Bytes())
		more := int64(most - least)
		if share := left / int64(len(bySize)-k); size > 0 {
			more = min(more, share/size)
		}
		frames[i] += int(more)
		left -= more * size
	}
	levelState(fields, frames)
	return frames
}

// levelState gives the parts of the state the frames of the one that has least.
func levelState(fields []*field, frames []int) {
	least := 0
	for i, f := range fields {
		if isState(f.spec.Name) && (least == 0 || frames[i] < least) {
			least = frames[i]
		}
	}
	for i, f := range fields {
		if isState(f.spec.Name) {
			frames[i] = least
		}
	}
}

// isState reports whether a field is part of the simulator's state.
func isState(name string) bool { return name == "qpos" || name == "qvel" || name == "act" }

// frameSizes lists what a frame of each field takes.
func (g *Guard) frameSizes() string {
	var parts []string
	for _, f := range g.fields {
		parts = append(parts, fmt.Sprintf("%s %s a frame", f.spec.Name, inUnits(int64(f.ref.Bytes()))))
	}
	return strings.Join(parts, ", ")
}

// Plan says in one line how many frames of each field the ring keeps, for
// example "ring 512 MiB: qpos 1000 frames, obs.policy 331 frames". From the
// first check on it tells what there is: a GPU may have had less memory free
// than was asked for. On a GPU it also tells what is kept back for fields that
// are bound after the first check.
func (g *Guard) Plan() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	frames, err := g.frames()
	if err != nil {
		return err.Error()
	}
	parts := make([]string, len(frames))
	var bytes int64
	for i, f := range g.fields {
		bytes += int64(frames[i]) * int64(f.ref.Bytes())
		parts[i] = fmt.Sprintf("%s %d frames", f.spec.Name, frames[i])
		if i >= g.recorded && g.unfit == len(g.fields) {
			parts[i] = f.spec.Name + " not watched for want of memory"
		}
	}
	return fmt.Sprintf("ring %s: %s", g.ringSize(bytes), strings.Join(parts, ", "))
}

// frames returns how many frames of each field there are or will be.
func (g *Guard) frames() ([]int, error) {
	if g.recorded == 0 || g.phase == closed {
		return g.plan()
	}
	var frames []int
	for i := range g.recorded {
		frames = append(frames, g.rec.frames(i))
	}
	if d, _ := g.joinable(); d != nil {
		return append(frames, g.shareOut(g.late(), g.lateMemory(d))...), nil
	}
	if len(g.late()) > 0 {
		return g.plan()
	}
	return frames, nil
}

// ringSize says how large the ring is, and where.
func (g *Guard) ringSize(bytes int64) string {
	size := inUnits(g.cfg.RingBytes)
	if g.short {
		size = inUnits(bytes) + " instead of " + size + " for want of memory"
	}
	if g.gpu == nil {
		return size
	}
	size += fmt.Sprintf(" on GPU %d (%s)", g.gpu.device.Ordinal, g.gpu.device.Name)
	kept := g.reserve(g.fields)
	if d, onGPU := g.rec.(*device); onGPU {
		kept = d.reserve
	}
	if kept > 0 {
		size += fmt.Sprintf(", %s of it kept for fields bound later", inUnits(kept))
	}
	return size
}

// allot takes the memory of the rings and traces. On the host, fields that have
// theirs give up what those bound since then get; on a GPU those bound since then
// join.
func (g *Guard) allot() error {
	if d, _ := g.joinable(); d != nil {
		return g.join(d)
	}
	frames, err := g.plan()
	if err != nil {
		return err
	}
	if g.gpu != nil {
		return g.allotOnGPU(frames)
	}
	rankAll(g.fields)
	h, onHost := g.rec.(*host)
	if !onHost {
		h = newHost(&g.cfg)
		g.rec = h
	}
	h.fit(g.fields, frames, g.cfg.TraceLen)
	g.recordedAll()
	return nil
}

// recordedAll takes note that the recorder knows all fields.
func (g *Guard) recordedAll() {
	g.recorded = len(g.fields)
	g.given = make([]FieldRef, 0, g.recorded)
}

// inUnits returns a number of bytes in the unit that reads best.
func inUnits(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + units[u]
}
