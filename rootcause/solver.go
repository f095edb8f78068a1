package rootcause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// counterNamed returns the solver's counter with a word in its name that begins so.
func (c *Case) counterNamed(words ...string) *field {
	for _, f := range c.fields {
		for _, w := range words {
			if (f.kind == counter || f.kind == force) && slices.ContainsFunc(tokens(f.Name), func(t string) bool { return strings.HasPrefix(t, w) }) {
				return f
			}
		}
	}
	return nil
}

// stressWindow is how many frames before the end F3 looks at.
const stressWindow = 5

// solverStress is F3: the solver at its limit of iterations, or a deep
// penetration, before the first non-finite value.
func (c *Case) solverStress() Feature {
	env, ok := c.focus()
	if f := c.counterNamed("dist"); ok && f.len() > 0 {
		if out := c.penetration(f, env); out.Value == yes {
			return out
		}
	}
	f, limit := c.counterNamed("niter"), c.iterations()
	if f.len() == 0 || limit == 0 {
		return unmeasured("solver_niter or the limit of iterations")
	}
	if !ok {
		return c.unblamed(f, "solver_niter")
	}
	row := f.row(env)
	lo, hi := f.window(c.lastReset(env, c.deadline()), c.deadline(), stressWindow)
	if row < 0 || lo == hi {
		return unmeasured("solver_niter of the env before it went bad")
	}
	hits, peers, tick := f.atLimit(row, lo, hi, limit)
	out := found(no, fmt.Sprintf("the solver stayed below its limit of %d iterations in the last %d substeps of env %d", limit, hi-lo, env))
	if hits > 0 {
		out = found(yes, fmt.Sprintf("the solver stopped at its limit of %d iterations in %d of the last %d substeps of env %d; %d of %d other envs did",
			limit, hits, hi-lo, env, peers, f.rows-1)).in(f, env, 0, tick)
	}
	out.Measured, out.Baseline = float64(hits), float64(hi-lo)
	out.Base = baseRate(peers, f.rows-1)
	return out
}

// atLimit counts the frames in which a row reached a limit, and the other rows
// that reached it in any.
func (f *field) atLimit(row, lo, hi, limit int) (hits, peers int, tick int64) {
	for r := range f.rows {
		n := 0
		for i := lo; i < hi; i++ {
			if f.cell(i, r).max < float64(limit) {
				continue
			}
			n++
			if r == row {
				tick = f.frames.Ticks[i]
			}
		}
		switch {
		case r == row:
			hits = n
		case n > 0:
			peers++
		}
	}
	return hits, peers, tick
}

// baseRate is how common a feature is among n healthy envs of which k show it.
func baseRate(k, n int) float64 { return (float64(k) + 1) / (float64(n) + 2) }

// flown is a penetration in m that no contact holds: what is as deep as that in
// another body was thrown there by speeds that had run away before.
const flown = 1.0

// deep is a penetration in m that is more than a soft contact gives, and deepBase
// how often a healthy env shows it; fullBase is that of a full buffer.
const (
	deep     = 0.01
	deepBase = 0.25
	fullBase = 0.02
)

// penetration judges the smallest contact distance, in metres.
func (c *Case) penetration(f *field, env int) Feature {
	row := f.row(env)
	lo, hi := f.window(c.lastReset(env, c.deadline()), c.deadline(), stressWindow)
	for i := lo; i < hi && row >= 0; i++ {
		if cell := f.cell(i, row); cell.min < -deep && cell.min > -flown {
			out := found(yes, fmt.Sprintf("contacts of env %d penetrate %s m at tick %d", env, num(-cell.min), f.frames.Ticks[i]))
			out.Measured, out.Baseline, out.Base = -cell.min, deep, deepBase
			return out.in(f, env, 0, f.frames.Ticks[i])
		}
	}
	return found(no, "contacts penetrate less than 1 cm")
}

// capacity is F4: room for contacts or constraints ran out before the speeds
// rose. Once they have risen a full buffer is a symptom.
func (c *Case) capacity() Feature {
	if e, ok := c.capacityEvent(); ok {
		out := found(yes, fmt.Sprintf("the simulator reported a full buffer at tick %d: %s", e.Tick, e.Name))
		out.Tick = &e.Tick
		out.Base = fullBase
		return out
	}
	for _, s := range c.complaints() {
		if fullBuffer.MatchString(s) {
			return found("said", fmt.Sprintf("the run ended with %q: there was no more room for contacts and constraints", s))
		}
	}
	if f := c.counterNamed("overflow"); f.len() > 0 {
		return c.overflowBits(f)
	}
	checked := false
	for _, b := range c.buffers() {
		if b.limit <= 0 || b.f == nil {
			continue
		}
		if out, ok := c.filled(b); ok {
			return out
		}
		checked = checked || c.countedBefore(b)
	}
	if e, ok := c.fullUnseen(); ok && (c.root() != nil || c.healthy()) {
		out := found(yes, fmt.Sprintf("the simulator reported a full buffer at tick %d: %s; no count is recorded that would say that it was large enough later", e.Tick, e.Name))
		out.Tick, out.Base, out.Half = &e.Tick, fullBase, true
		return out
	}
	if checked && c.root() == nil {
		return idle("nothing ran away that a full buffer could precede")
	}
	if !checked {
		return unmeasured("nefc or ncon with their limits (sim.njmax, sim.nconmax)")
	}
	return found(no, "contacts and constraints fitted their buffers until it began")
}

// fullBuffer matches what simulators say when contacts or constraints do not fit.
var fullBuffer = regexp.MustCompile(`(?i)mj_stackalloc|arena|nconmax|njmax|nacon|nefc|(contact|constraint|patch|pair)s? (buffer|overflow)|(buffer|capacity) overflow`)

// buffer is a counter with its limit.
type buffer struct {
	f     *field
	limit float64
	name  string
}

// buffers returns the counters that have a limit. MJWarp's ncon counts the
// contacts of all worlds together.
func (c *Case) buffers() []buffer {
	nj, _ := c.fact("sim.njmax")
	nc, _ := c.fact("sim.nconmax")
	b := []buffer{{c.counterNamed("nefc"), nj, "sim.njmax"}, {c.counterNamed("ncon", "nacon"), nc, "sim.nconmax"}}
	if b[1].f != nil && b[1].f.total() {
		b[1].limit *= float64(c.man.NumEnvs)
	}
	return append(b, c.sharedBuffer(nc))
}

// total reports whether a counter is of all worlds together: it has one row, or says the
// same in every row although it changes.
func (f *field) total() bool {
	if !f.PerEnv {
		return true
	}
	changes := false
	for i := range f.len() {
		for row := 1; row < f.rows; row++ {
			if f.at(i, row, 0) != f.at(i, 0, 0) {
				return false
			}
		}
		changes = changes || f.at(i, 0, 0) != f.at(0, 0, 0)
	}
	return changes && f.rows > 1
}

// sharedBuffer returns the contacts of all worlds together with the limit that
// they share: what the run declares, or nconmax itself where the simulator
// reported it full while no single world was.
func (c *Case) sharedBuffer(nconmax float64) buffer {
	f := c.counterNamed("nacon")
	if limit, ok := c.fact("sim.naconmax"); ok {
		return buffer{f, limit, "sim.naconmax"}
	}
	reported := slices.ContainsFunc(c.man.Events, func(e dump.Event) bool {
		return e.Kind == dump.EventCapacity && strings.Contains(e.Name, "con")
	})
	if own := c.counterNamed("ncon"); reported && own != nil && own.PerEnv && own.largest(c.deadline()) < nconmax {
		return buffer{f, nconmax, "sim.nconmax"}
	}
	return buffer{}
}

// filled reports whether a buffer was full in the ten steps before it began, in
// the env to blame, or in any env where its rows are not in the file.
func (c *Case) filled(b buffer) (Feature, bool) {
	env, _ := c.focus()
	row := b.f.row(env)
	lo, hi := b.f.window(c.lastReset(env, c.beginning()), c.beginning(), 10*c.decimation())
	for i := lo; i < hi && row >= 0; i++ {
		if n := b.f.cell(i, row).max; n >= b.limit {
			return b.full(n, b.f.frames.Ticks[i], b.f.env(row)), true
		}
	}
	last := b.f.entryBefore(c.beginning())
	for j := last; j >= 0 && row < 0 && j > last-10*c.decimation(); j-- {
		if n := at(b.f.trace.AbsMax, j); n >= b.limit {
			return b.full(n, b.f.trace.Ticks[j], b.f.argmax(j)), true
		}
	}
	return Feature{}, false
}

// countedBefore reports whether a buffer's counter was recorded before it began,
// in the env to blame where one is.
func (c *Case) countedBefore(b buffer) bool {
	t := c.beginning()
	if env, ok := c.focus(); !ok || b.f.row(env) >= 0 {
		if b.f.upTo(t-1) >= 0 {
			return true
		}
	}
	return b.f.entryBefore(t) >= 0
}

// full says that a buffer was full.
func (b *buffer) full(n float64, tick int64, env int) Feature {
	out := found(yes, fmt.Sprintf("%s%s reached %s of %s %s before anything else happened", b.f.Name, inEnv(env), num(n), b.name, num(b.limit)))
	out.Measured, out.Baseline, out.Base = n, b.limit, fullBase
	return out.in(b.f, env, 0, tick)
}

// dropping is X12: contacts or constraints were dropped all the time, long
// before anything ran away.
func (c *Case) dropping() Feature {
	if f, ok := c.oftenFull(); ok {
		return f
	}
	if f, ok := c.flagged(); ok {
		return f
	}
	seen := false
	for _, b := range c.buffers() {
		if b.limit <= 0 || b.f == nil {
			continue
		}
		over, all, since := b.f.above(b.limit, c.beginning())
		long := over == all && all >= fewChecks && c.reportedFull(since)
		seen = seen || all >= enough
		if all >= enough && over*4 >= all || long {
			out := found(yes, fmt.Sprintf("%s exceeded %s (%s) in %d of %d checks%s: what does not fit is dropped", b.f.Name, b.name, num(b.limit), over, all, c.ifWrong(" before it began")))
			if long {
				out.Text += ", and the simulator had reported a full buffer before the first of them"
			}
			out.Measured, out.Baseline = float64(over), float64(all)
			return out.in(b.f, -1, 0, c.beginning())
		}
	}
	if !seen {
		return unmeasured("nefc or ncon over some time, with their limits")
	}
	return found(no, "the counts of contacts and constraints stayed within their limits")
}

// fewChecks is how many checks, all of them over the limit, go on with what was
// reported before.
const fewChecks = 8

// reportedFull reports whether the simulator said that a buffer was full in an env step
// before the one that a tick belongs to.
func (c *Case) reportedFull(t int64) bool {
	return slices.ContainsFunc(c.man.Events, func(e dump.Event) bool {
		return e.Kind == dump.EventCapacity && e.Tick < c.stepsBefore(t, 1)
	})
}

// oftenFull finds a run that reported a full buffer in a quarter of all its env
// steps.
func (c *Case) oftenFull() (Feature, bool) {
	ticks := map[int64]bool{}
	name, last := "", int64(0)
	for _, e := range c.man.Events {
		if e.Kind == dump.EventCapacity && e.Tick < c.deadline() {
			ticks[c.stepOf(e.Tick)] = true
			name, last = e.Name, e.Tick
		}
	}
	steps, _ := slices.BinarySearch(c.envSteps, c.deadline())
	if n := len(ticks); n >= enough && n*4 >= steps {
		f := found(yes, fmt.Sprintf("the simulator reported a full buffer (%s) in %d of %d env steps: what does not fit is dropped", name, n, steps))
		f.Measured, f.Baseline, f.Tick = float64(n), float64(steps), &last
		return f, true
	}
	return Feature{}, false
}

// stepOf returns the tick of the env step that a tick belongs to.
func (c *Case) stepOf(t int64) int64 {
	i, _ := slices.BinarySearch(c.envSteps, t)
	if i < len(c.envSteps) {
		return c.envSteps[i]
	}
	return t
}

// capacityEvent returns the first capacity event in the ten env steps before it
// began.
func (c *Case) capacityEvent() (dump.Event, bool) {
	from, to := c.stepsBefore(c.beginning(), 10), c.beginning()
	env, ok := c.focus()
	for _, e := range c.man.Events {
		if e.Kind == dump.EventCapacity && e.Tick >= from && e.Tick <= to && (!ok || touches(e, env)) {
			return e, true
		}
	}
	return dump.Event{}, false
}

// fullUnseen returns the last report of a full buffer from before it began, where no
// count of contacts or constraints is recorded between the two: whether they fitted
// later is not known, for a simulator may say so once.
func (c *Case) fullUnseen() (dump.Event, bool) {
	t := c.beginning()
	env, ok := c.focus()
	for i := len(c.man.Events) - 1; i >= 0; i-- {
		e := c.man.Events[i]
		if e.Kind != dump.EventCapacity || e.Tick > t || ok && !touches(e, env) {
			continue
		}
		counted := slices.ContainsFunc(c.fields, func(f *field) bool {
			return f.kind == counter && about(f.Name, "nefc", "ncon", "nacon", "overflow") && (f.upTo(t-1) > f.upTo(e.Tick) || f.entryBefore(t) > f.entryBefore(e.Tick+1))
		})
		return e, !counted
	}
	return dump.Event{}, false
}

// sunkUnseen returns the report of a full buffer after which bodies may have sunk into
// each other, for want of contacts, without anything recorded to show it.
func (c *Case) sunkUnseen() (dump.Event, bool) {
	e, ok := c.fullUnseen()
	d, r := c.counterNamed("dist"), c.root()
	return e, ok && !(d.len() > 0 && r != nil && (d.upTo(r.tick) >= 0 || d.entryBefore(r.tick+1) >= 0))
}

// overflowBits judges a field of overflow flags.
func (c *Case) overflowBits(f *field) Feature {
	env, _ := c.focus()
	row := f.row(env)
	if out, ok := c.flagged(); ok && c.root() == nil {
		return out
	}
	switch {
	case c.healthy():
		return found(no, "no overflow flag was set")
	case row < 0:
		return unmeasured("overflow flags of the env to blame")
	}
	lo, hi := f.window(start, c.beginning(), 10*c.decimation())
	for i := lo; i < hi; i++ {
		if f.cell(i, row).max > 0 {
			out := found(yes, fmt.Sprintf("overflow flags of env %d are set at tick %d, before anything ran away", env, f.frames.Ticks[i]))
			out.Base = fullBase
			return out.in(f, env, 0, f.frames.Ticks[i])
		}
	}
	return found(no, "no overflow flag was set until it began")
}
