package detect

import (
	"fmt"
	"slices"
	"strings"
)

// minFrames is what every field keeps at least: a frame and the one before it.
const minFrames = 2

// plan returns how many frames of each field the ring's memory buys.
//
// Each field gets the frames that it cannot do without; what is left is shared
// out in equal parts, and what a small field cannot use (it needs no more than
// MaxFrames) goes to the others. The parts of the simulator's state keep
// equally many frames, since a state needs all of them.
func (g *Guard) plan() ([]int, error) {
	least := minFrames + g.cfg.PostFrames
	most := max(g.cfg.MaxFrames, least)
	left := g.cfg.RingBytes
	frames := make([]int, len(g.fields))
	bySize := make([]int, len(g.fields))
	for i, f := range g.fields {
		frames[i], bySize[i] = least, i
		left -= int64(least) * int64(f.ref.Bytes())
	}
	if left < 0 {
		return nil, misuse("check", "", "ring of %s cannot hold %d frames of each field: %s are needed (%s)",
			inUnits(g.cfg.RingBytes), least, inUnits(g.cfg.RingBytes-left), g.frameSizes())
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return g.fields[a].ref.Bytes() - g.fields[b].ref.Bytes() })
	for k, i := range bySize {
		size := int64(g.fields[i].ref.Bytes())
		more := int64(most - least)
		if share := left / int64(len(bySize)-k); size > 0 {
			more = min(more, share/size)
		}
		frames[i] += int(more)
		left -= more * size
	}
	g.levelState(frames)
	return frames, nil
}

// levelState gives the parts of the state the frames of the one that has least.
func (g *Guard) levelState(frames []int) {
	least := 0
	for i, f := range g.fields {
		if isState(f.spec.Name) && (least == 0 || frames[i] < least) {
			least = frames[i]
		}
	}
	for i, f := range g.fields {
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
// than was asked for.
func (g *Guard) Plan() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	frames, err := g.plan()
	if err != nil {
		return err.Error()
	}
	parts := make([]string, len(frames))
	short := false
	var bytes int64
	for i, f := range g.fields {
		if i < g.recorded && g.phase != closed {
			short = short || g.rec.frames(i) < frames[i]
			frames[i] = g.rec.frames(i)
		}
		bytes += int64(frames[i]) * int64(f.ref.Bytes())
		parts[i] = fmt.Sprintf("%s %d frames", f.spec.Name, frames[i])
	}
	return fmt.Sprintf("ring %s: %s", g.ringSize(bytes, short), strings.Join(parts, ", "))
}

// ringSize says how large the ring is, and where.
func (g *Guard) ringSize(bytes int64, short bool) string {
	size := inUnits(g.cfg.RingBytes)
	if short {
		size = inUnits(bytes) + " instead of " + size + " for want of memory"
	}
	if g.gpu != nil {
		size += fmt.Sprintf(" on GPU %d (%s)", g.gpu.device.Ordinal, g.gpu.device.Name)
	}
	return size
}

// allot takes the memory of the rings and traces. On the host, fields that have
// theirs give up what those bound since then get; on a GPU all start anew.
func (g *Guard) allot() error {
	frames, err := g.plan()
	if err != nil {
		return err
	}
	for i, f := range inOrder(g.fields) {
		f.rank = i
	}
	switch h, onHost := g.rec.(*host); {
	case g.gpu != nil:
		return g.allotOnGPU(frames)
	case onHost:
		h.fit(g.fields, frames, g.cfg.TraceLen)
	default:
		h = newHost(&g.cfg)
		h.fit(g.fields, frames, g.cfg.TraceLen)
		g.rec = h
	}
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
