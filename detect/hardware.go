package detect

import (
	"fmt"
	"time"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/cuda"
)

// hardware is the GPU of a guard.
type hardware struct {
	driver *cuda.Driver
	device cuda.Device
	watch  bool // the watcher runs
}

// useGPU makes the guard one of the GPU that a field lies on.
func (g *Guard) useGPU(f *field) error {
	n := f.ref.Device
	if g.gpu != nil {
		if have := g.gpu.device.Ordinal; n != have {
			return misuse("bind", f.spec.Name, "memory of GPU %d, and the guard is one of GPU %d: each GPU needs its own", n, have)
		}
		return nil
	}
	d, err := cuda.Open()
	if err != nil {
		return &MisuseError{Call: "bind", Field: f.spec.Name, Err: err}
	}
	device, err := d.Device(n)
	if err != nil {
		return &MisuseError{Call: "bind", Field: f.spec.Name, Err: err}
	}
	g.gpu = &hardware{driver: d, device: device}
	return nil
}

// allotOnGPU makes a recorder on the GPU, in place of the one that there is.
func (g *Guard) allotOnGPU(frames []int) error {
	since := g.now()
	if g.rec != nil {
		if waits, err := g.retire(); waits || err != nil {
			return err
		}
	}
	rankAll(g.fields)
	d, err := newDevice(g.gpu, &g.cfg, g.fields, frames, since)
	if err != nil {
		g.recorded = 0 // by a recorder that is closed
		return g.giveUp(err)
	}
	d.reserve = g.reserve(g.fields)
	g.rec = d
	g.forget()
	g.recordedAll()
	g.short = false
	g.noteShort(d.isShort(0, frames))
	if !g.gpu.watch {
		g.gpu.watch = true
		go g.watch()
	}
	return nil
}

// noteShort notes that the rings are shorter than was asked for.
func (g *Guard) noteShort(short bool) {
	if !short {
		return
	}
	g.short = true
	g.happened(dump.Event{
		Kind: dump.EventWarning,
		Detail: fmt.Sprintf("GPU %d (%s) has not enough free memory for a ring of %s: it keeps fewer frames",
			g.gpu.device.Ordinal, g.gpu.device.Name, inUnits(g.cfg.RingBytes)),
	})
}

// retire closes the recorder and says in an event that its frames are gone. It
// waits for the checks under way; when they tripped, it leaves the recorder to
// the dump, and reports that the fields that were bound since have to wait.
func (g *Guard) retire() (waits bool, err error) {
	if err := g.rec.settle(); err != nil {
		return true, g.giveUp(err)
	}
	if g.look(); g.phase != recording {
		return true, nil
	}
	_, why := g.joinable()
	g.events.add(dump.Event{
		Tick: g.now().tick, Kind: dump.EventWarning,
		Detail: fmt.Sprintf("rings and traces start anew, for fields that were bound after the first check: %s: %s", names(g.late()), why),
	})
	return false, g.rec.close()
}

// watchEvery is how often a guard of a GPU looks by itself whether it tripped.
const watchEvery = 100 * time.Millisecond

// watch looks for trips that no Check or Poll notices, because the loop is one
// graph or has died, and arms a guard that has rested when no Check does.
func (g *Guard) watch() {
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for {
		select {
		case <-g.done:
			return
		case <-t.C:
		}
		g.mu.Lock()
		g.protect(g.look)
		if g.phase == frozen {
			g.startDump()
		}
		g.protect(g.rearmInGraphs)
		g.mu.Unlock()
	}
}
