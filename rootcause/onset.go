package rootcause

import (
	"fmt"
	"math"
	"slices"
)

// onsetClass is F1: the class of the stage where it began.
func (c *Case) onsetClass() Feature {
	r := c.root()
	if r == nil {
		return c.onsetUnseen()
	}
	if c.allAtOnce(r) {
		o := c.tripped
		return found(onMultiple, "all that went bad is so in the very first frame that the file holds of it: what came before is not recorded").onset(o)
	}
	class := onMultiple
	if r.f != nil {
		class = loop[r.f.kind].onset
	}
	f := found(class, c.tellRoot(r))
	f.Hidden = c.hidden
	_, erased := c.zeroed()
	f.Half = erased || len(c.hidden) == 0 && !c.inputsKnown()
	o := r.onset()
	f.Measured = r.size
	if r.f != nil {
		f.Baseline = r.f.base
		if r.f.kind == obs && c.velocity().len() == 0 && c.growthInObs().Value == yes {
			f.Value = onPhysics
			f.Text += "; it grows from step to step, so the state behind it does"
		}
		if c.betweenObservations(r) {
			f.Value = onSensor
			f.Text += "; the normalizer's mean and variance of that column are fine, and a finite number over a positive one is finite: something between the two did it"
		}
		if _, ok := c.controlFormula(r); ok {
			f.Value = onSensor // made from the state by code of the task
		}
		if _, ok := c.networkFormula(r); ok {
			f.Value = onSensor // made from one env's input, by code of the policy
		}
		if c.sharesState(r) {
			f.Value, f.Half = onPhysics, true
			f.Text += "; several rewards or observations of the env went bad together, and what they share is the state, which is not recorded"
		}
	}
	return f.onset(&o)
}

// betweenObservations reports whether a normalized observation is non-finite in
// some env although the raw one and the statistics of its column are finite and
// positive: then it was not the normalizer.
func (c *Case) betweenObservations(r *step) bool {
	v := c.first(normVar)
	if r.f.kind != obsNorm || !nonFinite(r.class) || r.row < 0 || r.env < 0 || v.len() == 0 || v.width != r.f.width || c.first(obs) == nil {
		return false
	}
	i := v.upTo(r.tick)
	return i >= 0 && v.at(i, 0, r.col) > 0 && finite(v.at(i, 0, r.col)) && c.countBadIn(r) < r.f.rows
}

// sharesState reports whether two reward terms, or one and an observation, of
// one env went non-finite in the same record of a dump without physics.
func (c *Case) sharesState(r *step) bool {
	if slices.ContainsFunc(c.fields, func(f *field) bool { return f.kind.isBody() }) || !nonFinite(r.class) {
		return false
	}
	terms, observations := 0, 0
	for _, o := range c.order {
		switch {
		case o.f == nil || o.tick != r.tick || o.env != r.env:
		case o.f.kind == term:
			terms++
		case o.f.kind == obs:
			observations++
		}
	}
	return terms > 0 && observations > 0 || terms > 1
}

// onsetUnseen is F1 where no value in the file is bad. A guard that watches the
// physics only says by its firing that it was the physics, and no more.
func (c *Case) onsetUnseen() Feature {
	if !c.recorded() {
		return unmeasured("any field")
	}
	if !c.guardFired() || c.states == nil {
		return idle("no value in the file is non-finite or implausible")
	}
	f := found(onPhysics, "the guard that wrote the dump watches the physics only (qpos, qvel, qacc and the warm start), and no state in the file shows what it found")
	if names := c.guardFields(); len(names) > 0 {
		f.Text = "the guard found " + list(names) + " non-finite one step after the last state"
		if !slices.ContainsFunc(names, func(s string) bool { return s != "sensordata" }) {
			f.Value = onSensor
		}
	}
	f.Hidden = c.hidden
	return f
}

// guardFields returns the fields that a guard of parahand's kind names.
func (c *Case) guardFields() []string {
	m, ok := c.meta["non_finite_fields"].(map[string]any)
	if !ok {
		return nil
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// allAtOnce reports whether the first record of all is non-finite in three or
// more stages, the physics among them: then nothing tells what came first.
func (c *Case) allAtOnce(r *step) bool {
	if r.f == nil || !nonFinite(r.class) || r.frame != 0 || r.row < 0 {
		return false
	}
	classes := map[string]bool{}
	for _, o := range c.order {
		if o.f.len() > 0 && o.tick == r.tick && o.tick == o.f.frames.Ticks[0] {
			classes[loop[o.f.kind].onset] = true
		}
	}
	return len(classes) >= 3 && classes[onPhysics] || len(c.fields) <= 2 && c.guardFired()
}

// tellRoot says where it began.
func (c *Case) tellRoot(r *step) string {
	who := r.name
	if r.f != nil && r.col >= 0 {
		who = r.f.label(r.col)
	}
	text := fmt.Sprintf("it began in %s%s at tick %d: %s", who, inEnv(r.env), r.tick, words[r.class])
	if r.f == nil {
		return text
	}
	if r.class == growing || r.class == huge {
		text += fmt.Sprintf(", %s (healthy: %s)", c.quantity(r.f, r.col, r.size), num(r.f.base))
	}
	if r.class == extreme {
		text += fmt.Sprintf(", %s (a sensible one is below %s)", num(r.size), num(r.f.limit))
	}
	if r.class == negative && r.row >= 0 {
		text += fmt.Sprintf(", %s", num(r.f.at(r.frame, r.row, r.col)))
	}
	if c.inputsKnown() {
		text += ", while what it is made from was still fine"
	} else {
		text += "; what it is made from is not recorded"
	}
	if n := len(c.chain); n > 1 {
		text += fmt.Sprintf("; from there it reached %s by tick %d", c.chain[n-1].name, c.chain[n-1].tick)
	}
	return text
}

// extent is F8: how many envs were bad where it began.
func (c *Case) extent() Feature {
	r := c.root()
	total := c.man.NumEnvs
	switch {
	case r == nil && c.guardFired() && c.everywhere(len(c.culprits)):
		return idle("every env was non-finite when the guard fired: what all share did it, and how many they are says no more")
	case r == nil && c.guardFired() && len(c.culprits) > 0:
		return spread(len(c.culprits), total, "non-finite when the guard fired")
	case !c.recorded():
		return unmeasured("any field")
	case r == nil || total == 0:
		return idle("no bad env to count")
	case r.f == nil || r.f.PerEnv && r.env < 0 && r.row < 0:
		return unmeasured("how many envs were bad")
	case r.f.PerEnv && r.row >= 0 && r.is(std, logStd) && c.variesByEnv(r.f, r.frame):
		return idle("the std is made for each env from its observation: how many envs it blew up in says nothing")
	case !r.f.PerEnv:
		return found("all", fmt.Sprintf("%s is one value for the whole run: every env has it", r.name))
	}
	n := c.countBad(r)
	if r.f.kind.isBody() && c.guardFired() && c.everywhere(len(c.culprits)) {
		return idle("every env ran away: what all share did it, and how many they are says no more (X13)")
	}
	if n == 0 {
		return unmeasured("how many envs were bad")
	}
	if rows := r.f.rows; nonFinite(r.class) || n < rows || rows < 3 {
		return spread(n, total, "bad in "+r.name+" where it began")
	}
	if r.f.kind.isBody() {
		return idle("every env in the file runs away: what all share did it, and how many they are says no more (X13)")
	}
	return spread(total, total, fmt.Sprintf("(all %d in the file, healthy controls among them) bad in %s where it began", n, r.name))
}

// sharedGrowth is X13: the physics runs away in all envs at once, so it is
// something that they share (the model, its contacts, the timestep) and not one
// env's bad luck. Growth is no extent of a trip: that reaches one env first.
func (c *Case) sharedGrowth() Feature {
	r := c.root()
	if c.modelEvent().Value == "felt" {
		return idle("a change of the model that all felt explains that many went bad at once")
	}
	if f, ok := c.struck(r); ok {
		return f
	}
	if !r.is(body...) || nonFinite(r.class) || r.row < 0 {
		return idle("no physics that runs away")
	}
	n, total, where := c.countBadIn(r), r.f.rows, "in the file"
	if c.constraintFree().Value == yes {
		n = max(n, c.ranAwayToo(r)) // what a pose at a reset does to all, it does by contacts
	}
	if c.guardFired() && len(c.culprits) > 0 {
		n, total, where = len(c.culprits), c.man.NumEnvs, "of the run"
	}
	if total < 3 {
		return unmeasured("enough envs to tell whether all ran away")
	}
	value := no
	if n*10 >= total*9 {
		value = yes
	}
	return found(value, fmt.Sprintf("the physics ran away in %d of the %d envs %s", n, total, where)).in(r.f, r.env, r.col, r.tick)
}

// ranAwayToo counts the rows that ran away where a step did or later in the file,
// but before their own commands went bad: what a NaN policy does to an env is no
// sign of its own.
func (c *Case) ranAwayToo(r *step) int {
	n := 0
	for row := range r.f.rows {
		env, until := r.f.env(row), int64(math.MaxInt64)
		for _, u := range c.fields {
			if k := u.row(env); (u.kind == ctrl || u.kind == action) && u.len() > 0 && k >= 0 {
				for i := max(0, u.upTo(r.tick)); i < u.len(); i++ {
					if u.cell(i, k).bad > 0 {
						until = min(until, u.frames.Ticks[i])
						break
					}
				}
			}
		}
		for i := r.frame; i < r.f.len() && r.f.frames.Ticks[i] <= until; i++ {
			if r.f.state(i, row) != "" {
				n++
				break
			}
		}
	}
	return n
}

// struck finds physics that became non-finite in a quarter of all envs within one
// frame, out of ordinary motion: no mechanism does that to so many at once, what
// they share does, such as memory that holds something else.
func (c *Case) struck(r *step) (Feature, bool) {
	if !r.is(body...) || !nonFinite(r.class) || r.row < 0 || r.frame == 0 || c.man.NumEnvs < manyEnvs {
		return Feature{}, false
	}
	n := c.countBad(r)
	if 4*n < c.man.NumEnvs || n < 4 || r.f.state(r.frame-1, r.row) != "" || !slices.Contains([]string{no, unknown}, c.afterReset().Value) {
		return Feature{}, false
	}
	f := found("struck", fmt.Sprintf("%s became %s in %d of %d envs within one frame, out of ordinary motion", r.name, words[r.class], n, c.man.NumEnvs))
	f.Measured, f.Baseline = float64(n), float64(c.man.NumEnvs)
	return f.in(r.f, r.env, r.col, r.tick), true
}

// countBad counts the envs that were bad in the root's frame.
func (c *Case) countBad(r *step) int {
	n := 0
	for _, o := range c.order {
		if o.field == r.name && o.tick == r.tick {
			n = max(n, o.envs)
		}
	}
	if r.row < 0 && r.f.len() > 0 {
		return max(n, r.f.badRows(0)) // all of them bad in the first frame, after a root in the trace: it is all envs
	} else if r.row < 0 {
		return n
	}
	if c.guardFired() {
		n = max(n, len(c.culprits))
	}
	return max(n, c.countBadIn(r))
}

// manyEnvs is how many envs a run needs for their share to tell anything.
const manyEnvs = 8

// spread turns a count of envs into a value of F8. A hundredth of thousands of
// envs is few; of 24 or 48 it would be none, so a handful counts as few there.
func spread(n, total int, what string) Feature {
	if total < manyEnvs {
		return idle(fmt.Sprintf("%s %s, and in so few envs that tells nothing", share(n, total), what))
	}
	value := "some"
	switch {
	case total > 0 && n*10 >= total*9:
		value = "all"
	case n*100 <= total || n <= 4 && n*8 <= total || n == 1:
		value = "few"
	}
	f := found(value, share(n, total)+" "+what)
	f.Measured, f.Baseline = float64(n), float64(total)
	return f
}

// share says how many of the envs were.
func share(n, total int) string {
	if n == 1 {
		return fmt.Sprintf("1 of %d envs was", total)
	}
	return fmt.Sprintf("%d of %d envs were", n, total)
}
