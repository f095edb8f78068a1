package rootcause

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// capture is what a CUDA graph read when it was last captured.
type capture struct {
	graph string
	tick  int64
	reads map[string]string // field: address
}

// captures returns the last capture of each graph before it went wrong, by name:
// the facts of a dump are those of that time, whatever was captured since.
func (c *Case) captures() []capture {
	last := map[string]capture{}
	for _, e := range c.man.Events {
		if e.Kind != dump.EventGraphCapture || c.afterwards(e) {
			continue
		}
		d, _ := e.Detail.(map[string]any)
		name, _ := d["graph"].(string)
		if name == "" {
			name = e.Name
		}
		reads, ok := d["reads"].(map[string]any)
		if !ok {
			reads = d
		}
		g := capture{graph: name, tick: e.Tick, reads: map[string]string{}}
		for f, a := range reads {
			g.reads[f] = address(a)
		}
		last[name] = g
	}
	out := make([]capture, 0, len(last))
	for _, name := range slices.Sorted(maps.Keys(last)) {
		out = append(out, last[name])
	}
	return out
}

// address makes addresses comparable, whether written as numbers or as text.
func address(v any) string {
	if s, ok := v.(string); ok {
		if n, err := strconv.ParseUint(s, 0, 64); err == nil {
			return fmt.Sprintf("%#x", n)
		}
	}
	if n, ok := number(v); ok {
		return fmt.Sprintf("%#x", uint64(n))
	}
	return fmt.Sprint(v)
}

// addresses returns where each field's array lives now: after its last move, or
// where no move was noted, what the dump says. The dump may say it for a later
// time than that at which it went wrong; the moves have their ticks.
func (c *Case) addresses() map[string]string {
	now := map[string]string{}
	for name, v := range c.man.Facts {
		if field, ok := strings.CutPrefix(name, "address."); ok {
			now[field] = address(v)
		}
	}
	noted := map[string]bool{}
	for _, e := range c.man.Events {
		if e.Kind != dump.EventBufferMoved {
			continue
		}
		d, _ := e.Detail.(map[string]any)
		name, _ := d["field"].(string)
		if name == "" {
			name = e.Name
		}
		if !noted[name] {
			delete(now, name)
			noted[name] = true
		}
		if to, ok := d["to"]; ok && !c.afterwards(e) {
			now[name] = address(to)
		}
	}
	return now
}

// afterwards reports whether an event came after it had gone wrong.
func (c *Case) afterwards(e dump.Event) bool { return c.tripped != nil && e.Tick > c.tripped.tick }

// staleAddress is F12: a graph that was replayed after an array that it reads
// had moved.
func (c *Case) staleAddress() Feature {
	caps, now := c.captures(), c.addresses()
	if len(caps) == 0 {
		return unmeasured("graph captures, as events")
	}
	compared := 0
	for _, g := range caps {
		for _, name := range slices.Sorted(maps.Keys(g.reads)) {
			at, ok := now[name]
			if !ok {
				continue
			}
			compared++
			if at != g.reads[name] && c.replayed(g.graph) && !c.alternates(caps, name, at) {
				f := found(yes, fmt.Sprintf("the graph %q reads %s at %s, where it was at its capture (tick %d); the array is at %s now", g.graph, name, g.reads[name], g.tick, at))
				f.Field, f.Tick = name, &g.tick
				return f
			}
		}
	}
	if compared == 0 {
		return unmeasured("the present addresses of what the graphs read")
	}
	return found(no, fmt.Sprintf("all %d addresses that the graphs read are where they were at capture", compared))
}

// alternates reports whether another graph that runs reads a field where it is now, and
// nobody noted a move: two buffers that change places have a graph each.
func (c *Case) alternates(caps []capture, name, now string) bool {
	if slices.ContainsFunc(c.man.Events, func(e dump.Event) bool { return e.Kind == dump.EventBufferMoved }) {
		return false
	}
	return slices.ContainsFunc(caps, func(g capture) bool { return g.reads[name] == now && c.replayed(g.graph) })
}

// replayed reports whether a graph ran, or nothing says that it did not.
func (c *Case) replayed(graph string) bool {
	n, ok := c.fact("graph." + graph + ".replays")
	return !ok || n > 0
}

// frozenFrames is how long a value must stand still, while what it is made from
// moves, before it counts as frozen.
const frozenFrames = 10

// frozen is X8: controls that stand still, bit for bit, while the actions that
// they are made from go on: something reads an array that nobody writes any
// more.
func (c *Case) frozen() Feature {
	pairs := []struct{ made, from kind }{{ctrl, action}, {sensor, qvel}, {obs, qvel}}
	seen := false
	for _, p := range pairs {
		for _, f := range c.fields {
			from := c.first(p.from)
			if f.kind != p.made || f.len() < frozenFrames || from.len() < 3 || f.Clock == dump.ClockMinibatch || f.Clock == dump.ClockUpdate {
				continue
			}
			seen = true
			if since, ok := c.standsStill(f, from); ok {
				return found(yes, fmt.Sprintf("%s stands still in every env since tick %d while %s goes on", f.Name, since, from.Name)).in(f, -1, -1, since)
			}
		}
	}
	if f, ok := c.firstOf((*Case).held, (*Case).deafened); ok {
		return f
	}
	if f := c.stuckColumns(); f.Value == yes {
		f.Value = "part"
		return f
	}
	if !seen {
		return unmeasured("ctrl beside action, or sensors beside the physics")
	}
	return found(no, "controls and sensors follow what they are made from")
}

// standsStill reports whether every row of f held the same finite values in its
// last frames before the deadline, while every row of from changed in each.
func (c *Case) standsStill(f, from *field) (int64, bool) {
	hi := f.upTo(c.deadline()-1) + 1
	lo := hi - 1
	for lo > 0 && f.same(lo-1, lo) {
		lo--
	}
	if hi-lo < frozenFrames || lo == 0 && f.kind != ctrl {
		return 0, false // an observation may well be constant from the start
	}
	a, b := from.upTo(f.frames.Ticks[lo]), from.upTo(f.frames.Ticks[hi-1])
	if a < 0 || b-a < 3 {
		return 0, false
	}
	for i := a + 1; i <= b; i++ {
		if from.same(i-1, i) {
			return 0, false
		}
	}
	return f.frames.Ticks[lo], true
}

// same reports whether two frames hold the same finite values that are not all
// zero.
func (f *field) same(i, j int) bool {
	size := f.rows * f.width * f.frames.Values.DType.Size()
	d := f.frames.Values.Data
	if !slices.Equal(d[i*size:(i+1)*size], d[j*size:(j+1)*size]) {
		return false
	}
	something := false
	for row := range f.rows {
		c := f.cell(i, row)
		if c.bad > 0 {
			return false
		}
		something = something || c.max > 0
	}
	return something
}
