package rootcause

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// noticed returns what shows that something is wrong: the trip, a value that
// was replaced before it could trip, the last state of a guard that fired
// without showing why, or, in a dump that was asked for, a finite value that no
// healthy run has. c.wrong says it in words even where no frame shows it.
func (c *Case) noticed() (step, bool) {
	c.wrong = c.numericComplaints()
	c.said = len(c.wrong)
	if c.tripped != nil {
		c.wrong = append(c.wrong, fmt.Sprintf("%s went %s", c.tripped.field, words[c.tripped.class]))
		return c.locate(c.tripped), true
	}
	if s, ok := c.replaced(); ok {
		c.wrong = append(c.wrong, s.name+" was not finite and was replaced")
		return s, true
	}
	if c.guardFired() {
		c.wrong = append(c.wrong, "the guard that wrote this dump found a non-finite value one step after the last state")
		return c.lastState()
	}
	if bad := intList(c.meta["nan_env_ids"]); len(bad) > 0 {
		c.wrong = append(c.wrong, "the metadata says that envs went bad: "+ids(bad, 8))
		return c.lastState()
	}
	if !c.recorded() {
		c.wrong = append(c.wrong, "the file holds no frame of any field")
		return step{}, false
	}
	var s step
	var ok bool
	for _, look := range []func() (step, bool){c.alarm, c.divided, c.coldColumn, c.runsAway} {
		if s, ok = look(); ok {
			break
		}
	}
	if ok {
		c.wrong = append(c.wrong, fmt.Sprintf("%s is %s", s.name, words[s.class]))
	} else {
		c.wrong = append(c.wrong, c.silent()...)
	}
	return s, ok
}

// silent returns what is wrong in a run in which every value is finite and of an
// ordinary size: learning stands still, the normalizer forgot, ranks differ, bad
// values were replaced, or contacts are dropped all the time.
func (c *Case) silent() []string {
	var said []string
	for _, measure := range []func(*Case) Feature{(*Case).precision, (*Case).normalizerLost, (*Case).ranks, (*Case).maskedValues, (*Case).dropping, (*Case).deaf, (*Case).stdAdrift, (*Case).stuckColumns, (*Case).heldStill, (*Case).bornInside} {
		if f := measure(c); f.Value == yes || f.Value == "shown" || f.Value == halted {
			said = append(said, f.Text)
		}
	}
	if f := c.telltale(); f.known() {
		said = append(said, f.Text)
	}
	if f, ok := c.neverFilled(); ok {
		said = append(said, f.Text)
	}
	return said
}

// recorded reports whether the file holds a frame or a trace of anything.
func (c *Case) recorded() bool {
	return slices.ContainsFunc(c.fields, func(f *field) bool {
		return f.len() > 0 || f.trace != nil && len(f.trace.Ticks) > 0
	})
}

// locate finds the frame, or else the trace entry, of an onset.
func (c *Case) locate(o *onset) step {
	s := step{f: o.f, name: o.field, row: -1, env: o.env, col: o.col, tick: o.tick, count: o.count, class: o.class}
	if o.f == nil {
		return s
	}
	i, row := o.f.upTo(o.tick), o.f.row(o.env)
	if i >= 0 && row >= 0 && row < o.f.rows && o.f.frames.Ticks[i] == o.tick && o.f.state(i, row) != "" {
		return c.inFrame(o.f, i, row)
	}
	s.before = o.tick - 1
	if j := o.f.entryBefore(o.tick + 1); j >= 0 && o.f.trace.Ticks[j] == o.tick {
		s.frame = j
		if j > 0 {
			s.before = o.f.trace.Ticks[j-1]
		}
	}
	return s
}

// guardFired reports whether the dump exists because a guard found something,
// shown or not: every dump of another producer than nanguard, but for one that
// says itself that no env was bad.
func (c *Case) guardFired() bool {
	if list, ok := c.meta["nan_env_ids"].([]any); ok && len(list) == 0 {
		return false // asked for
	}
	return !strings.HasPrefix(c.format, "nanguard") && c.format != ""
}

// lastState finds the earliest run of bad values that lasts until the end of
// the file, in the env to blame.
func (c *Case) lastState() (step, bool) {
	env, ok := c.focus()
	if !ok && len(c.culprits) > 0 {
		return step{}, false // the culprit is not in the file
	}
	var best step
	found := false
	for _, f := range c.fields {
		if f.len() == 0 || f.kind == monitor || f.kind == counter {
			continue
		}
		for _, row := range c.lookAt(f, env) {
			if i := f.len() - 1; f.state(i, row) != "" {
				if s := c.inFrame(f, i, row); !found || earlier(&s, &best) {
					best, found = s, true
				}
			}
		}
	}
	return best, found
}

// lookAt returns the row of an env, or every row when the env is not known.
func (c *Case) lookAt(f *field, env int) []int {
	if row := f.row(env); env >= 0 && row >= 0 {
		return []int{row}
	}
	return f.everyRow()
}

// replaced finds the first value that was replaced before it was recorded: an
// event that says so, or a termination for NaN.
func (c *Case) replaced() (step, bool) {
	for _, e := range c.man.Events {
		if e.Kind != dump.EventNaNReplaced && !engineWarning(e) {
			continue
		}
		s := step{f: c.byName[e.Name], name: e.Name, row: -1, env: -1, col: -1, tick: e.Tick, class: masked, before: e.Tick - 1}
		if s.f == nil {
			s.f = c.velocity()
		}
		if len(e.Envs) > 0 {
			s.env = e.Envs[0]
		}
		return s, true
	}
	for _, f := range c.fields {
		if f.kind != done || !namesNaN(f.Name) {
			continue
		}
		for i := range f.len() {
			for row := range f.rows {
				if f.cell(i, row).max > 0 {
					v := c.velocity()
					return step{f: v, name: f.Name, row: -1, env: f.env(row), col: -1, tick: f.frames.Ticks[i], class: masked, before: f.frames.Ticks[i] - 1}, true
				}
			}
		}
	}
	return step{}, false
}

// engineWarning reports whether an event says that MuJoCo reset a bad state by
// itself.
func engineWarning(e dump.Event) bool {
	s := strings.ToUpper(e.Name + " " + fmt.Sprint(e.Detail))
	return e.Kind == dump.EventWarning && (strings.Contains(s, "BADQPOS") || strings.Contains(s, "BADQVEL") || strings.Contains(s, "BADQACC"))
}

// alarm returns the earliest value that is finite and yet no healthy run has.
func (c *Case) alarm() (step, bool) {
	var best step
	found := false
	take := func(s step) {
		if !found || earlier(&s, &best) {
			best, found = s, true
		}
	}
	for _, f := range c.fields {
		for i := range f.len() {
			for row := range f.rows {
				if size := f.cell(i, row).max; f.serious(f.state(i, row), size) && !f.byNature(size) {
					take(c.inFrame(f, i, row))
				}
			}
		}
		for j := 0; f.trace != nil && j < len(f.trace.Ticks); j++ {
			if size := at(f.trace.AbsMax, j); f.serious(f.traced(j), size) && !f.byNature(size) {
				take(f.inTrace(j, -1))
				break
			}
		}
	}
	return best, found
}

// bornShare is how large, as a share of a value, what a field held in its first record
// must be for the value to be large by nature.
const bornShare = 0.1

// byNature reports whether a value that is wrong in most runs is what this field is
// made of: a number among the parameters that was as large in the first record or
// counts, a map's coordinates or an encoder's ticks, the forces of a heavy machine.
func (f *field) byNature(size float64) bool {
	return f.is(param, qpos, ctrl) && f.startedAt() >= bornShare*size || f.kind == param && f.tallies()
}

// startedAt returns the largest size in the first record of a field.
func (f *field) startedAt() float64 {
	if f.trace != nil && len(f.trace.AbsMax) > 0 {
		return at(f.trace.AbsMax, 0)
	}
	most := 0.0
	for row := range f.rows {
		most = math.Max(most, f.cell(0, row).max)
	}
	return most
}

// tallies reports whether a field is one whole number that never falls and grows by
// about the same each time.
func (f *field) tallies() bool {
	if f.len() < 3 || f.rows*(f.to-f.from) != 1 {
		return false
	}
	var steps []float64
	for i := 1; i < f.len(); i++ {
		was, is := f.at(i-1, 0, 0), f.at(i, 0, 0)
		if is != math.Trunc(is) || is < was {
			return false
		}
		if is > was {
			steps = append(steps, is-was)
		}
	}
	return len(steps) > 0 && slices.Max(steps) <= 2*median(steps)
}

// How many times the limit of a precursor a speed, and an output of the policy or a
// weight, must be to be wrong on its own.
const (
	wildSpeed  = 30.0
	wildOutput = 1e3
)

// beyondUse is from where on a loss is wrong whatever it was before: the error that it
// is the square of has no float32 that it could be added to.
const beyondUse = 1e30

// serious reports whether a finite value is wrong on its own, without a trip
// behind it: the limits are wider than those of a precursor, for hard landings,
// fast motion and large rewards are not faults.
func (f *field) serious(class string, size float64) bool {
	if class == "" {
		return false
	}
	switch f.kind {
	case std, paramStd:
		return class == negative || size > loop[f.kind].top
	case logStd:
		return size > math.Log(loop[std].top)
	case normVar:
		return class == negative
	case qvel, state, qpos:
		return size > maxVal || size > wildSpeed*f.limit
	case ctrl, action, mean, param:
		return size > wildOutput*f.limit || size > maxVal
	case monitor:
		return false // nothing reads it
	case lr, counter, done:
		return nonFinite(class)
	case loss:
		if size > beyondUse {
			return true
		}
	}
	return nonFinite(class) || size > maxVal && class == huge && size > decades*f.base
}

// failure matches the words of an exception or of a reason that means trouble.
var failure = regexp.MustCompile(`[A-Z]\w*(Error|Exception)\b|(?i)\berror:|contains? (nan|inf)|not finite|non-?finite|illegal (memory|address|instruction|access)|assertion .*failed|device-side assert|diverged|crashed|std >= 0`)

// none matches a count of failures that is zero.
var none = regexp.MustCompile(`(?i)\b(0|no|without|never)( \w+)? (nan|inf|non-?finite)|\b(nan|inf|non-?finite)\w*( \w+)?:? (0|never|none)\b|diverged 0 times`)

// mistaken matches exceptions of Python that a slip in the code raises, whatever its
// words are about.
var mistaken = regexp.MustCompile(`^\s*(\w+\.)*(KeyError|NameError|AttributeError|TypeError|ImportError|ModuleNotFoundError|FileNotFoundError|SyntaxError|NotImplementedError|UnboundLocalError|IndexError)\b|modified by an inplace operation|loading state_dict`)

// worldly matches exceptions that have nothing to do with numbers.
var worldly = regexp.MustCompile(`(?i)out of memory|no space left|keyboardinterrupt|connection|broken pipe|timed? ?out|permission denied|no such file|killed`)

// numeric matches exceptions that may have to do with numbers. Others stop a run
// in which nothing is wrong with them.
var numeric = regexp.MustCompile(`(?i)\bnan\b|\binf\b|infin|finite|overflow|diverg|std >= 0|satisfy the constraint|(std|scale|variance|probabilit).*(positive|negative)|singular|cholesky|lapack|\bsvd|\beig|rank-deficient|math domain|domain error|illegal (memory|address|instruction|access)|cuda error|device-side|cudnn|cublas|misaligned|kernel image|unstable|bad(qpos|qvel|qacc)|exploding gradient|ptxas|nvrtc|cudagraph|driver version|not normali[sz]ed|zero.?norm`)

// numericComplaints returns those of the run's complaints that make a dump worth
// a diagnosis although every value in it is in order; the others become a doubt.
func (c *Case) numericComplaints() []string {
	var said []string
	for _, s := range c.complaints() {
		if numeric.MatchString(s) && !mistaken.MatchString(s) || fullBuffer.MatchString(s) || about(s, backendWords...) {
			said = append(said, s)
		} else {
			c.warnf("the run ended with %q", s)
		}
	}
	return said
}

// firstLine returns what a message says before its traceback.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// complaints returns what the run itself said went wrong.
func (c *Case) complaints() []string {
	var said []string
	if e := c.man.Run.Exception; e != "" && (!worldly.MatchString(firstLine(e)) || fullBuffer.MatchString(firstLine(e))) {
		said = append(said, firstLine(e))
	}
	for _, e := range c.man.Events {
		if e.Kind != dump.EventNote {
			continue
		}
		if s, ok := e.Detail.(string); ok && failure.MatchString(s) && !none.MatchString(s) && (!worldly.MatchString(s) || fullBuffer.MatchString(s)) && !slices.Contains(said, firstLine(s)) {
			said = append(said, firstLine(s))
		} else if !ok && failure.MatchString(e.Name) && !none.MatchString(e.Name) {
			said = append(said, e.Name)
		}
	}
	return said
}
