package rootcause

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// What clears a row, as the rows of the table say it.
const (
	usualZ       = 50.0 // |z| of a warm normalizer
	softServo    = 0.3  // sqrt(kp/inertia)*dt, or damping*dt/inertia
	mostUsed     = 0.9  // of a buffer
	mostIterated = 0.8  // of the limit of iterations
)

// checkReward is row 1.
func checkReward(c *Case) (Status, string) {
	f := c.feature(F6)
	if f.Value == yes {
		return Implicated, f.Text
	}
	t := c.first(term)
	if t == nil {
		return Unknown, "the reward terms are not recorded one by one"
	}
	most, name := 0.0, t.Name
	for _, g := range c.fields {
		if v := g.largest(c.beginning() - 1); g.kind == term && v > most {
			most, name = v, g.Name
		}
	}
	return c.cleared(t, fmt.Sprintf("every term was finite%s, the largest %s (%s)", c.ifWrong(" before it began"), num(most), name))
}

// checkAction is row 2.
func checkAction(c *Case) (Status, string) {
	f5, x7 := c.feature(F5), c.feature(X7)
	switch {
	case x7.Value == yes:
		return Implicated, x7.Text
	case f5.Value == yes && c.is(F2, yes):
		return Implicated, f5.Text
	case f5.Value == no:
		return c.cleared(c.first(action, ctrl), f5.Text)
	}
	if a := c.first(action, ctrl); c.healthy() && a.len() > 0 {
		return c.cleared(a, fmt.Sprintf("%s was at most %s in every env of the file, and nothing came of it", a.Name, num(a.largest(c.deadline()))))
	}
	return Unknown, f5.Text
}

// checkNormalizer is row 3.
func checkNormalizer(c *Case) (Status, string) {
	f := c.feature(F9)
	if s := c.normalizerStep(); s != nil && c.is(F1, onObsNorm) {
		if f.Value == yes {
			return Implicated, f.Text
		}
		return Implicated, fmt.Sprintf("%s is %s from raw observations that were fine (tick %d)", s.name, words[s.class], s.tick)
	}
	z := c.first(obsNorm)
	if z.len() == 0 {
		return Unknown, "the normalized observation is not recorded"
	}
	if most := z.largest(c.beginning() - 1); most >= usualZ {
		return Unknown, fmt.Sprintf("the largest |z| is %s: unusual%s", num(most), c.ifWrong(", and not where it began"))
	}
	return c.cleared(z, fmt.Sprintf("%s was finite, |z| at most %s", z.Name, num(z.largest(c.beginning()-1))))
}

// checkGains is row 4.
func checkGains(c *Case) (Status, string) {
	if f := c.feature(X1); f.Value == yes {
		return Implicated, f.Text
	}
	s := c.stiffest()
	switch {
	case s == nil:
		return Unknown, "kp, kd and inertias are not recorded: no model with actuators of joints beside the dump"
	case s.kp == 0 && s.kd == 0:
		return Unknown, "the model's actuators are motors without gains of their own; how strong they are for what they move, the controls would tell"
	}
	text := fmt.Sprintf("sqrt(kp/inertia)*dt is at most %s (actuator %s, kp %s), damping*dt/inertia %s; from 1 on it is shaky, from 2 on unstable", num(s.wdt), s.name, num(s.kp), num(s.ddt))
	switch worst := math.Max(s.wdt, s.ddt); {
	case worst > unstable || worst > shaky && c.is(F2, yes):
		return Implicated, text
	case worst < softServo:
		return Cleared, text
	}
	return Unknown, text
}

// fixGains names the stiffest servo.
func fixGains(c *Case) string {
	if s := c.stiffest(); s != nil && s.wdt > 0 {
		return fmt.Sprintf("Halve kp and kd (%s: kp %s to %s), or add armature.", s.name, num(s.kp), num(s.kp/2))
	}
	return "Plot the PD step response of each joint; halve kp and kd of one that overshoots, or add armature."
}

// What no step follows: a joint that turns by more in one, rad or m, and a step
// that is long for any robot, s.
const (
	farTurn  = 1.0
	longStep = 0.02
)

// checkTimestep is row 5: how far things move in one step.
func checkTimestep(c *Case) (Status, string) {
	dt, v := c.timestep(), c.velocity()
	if dt <= 0 || v.len() == 0 {
		return Unknown, "the timestep and qvel are needed, and one is not recorded"
	}
	g := c.calm(v)
	turn := g * dt
	text := fmt.Sprintf("at %s s a step moves the fastest joint by %s rad or m (95 %% of its speeds%s)", num(dt), num(turn), c.ifWrong(" until then"))
	switch {
	case c.is(X14, "coarse") && c.is(F2, yes):
		return Implicated, c.feature(X14).Text
	case c.is(X26, yes):
		return Implicated, c.feature(X26).Text
	case (turn > farTurn || dt >= longStep) && c.is(F2, yes):
		return Implicated, text + ": more than a step can follow"
	case turn > farTurn:
		return Unknown, text
	case !c.is(F2, no):
		return Unknown, text
	}
	return c.cleared(v, text)
}

// calm returns a high quantile of the speeds that had not run away.
func (c *Case) calm(v *field) float64 {
	var sizes []float64
	for i := range v.len() {
		for row := 0; row < v.rows && v.frames.Ticks[i] < c.deadline(); row++ {
			if v.state(i, row) == "" {
				sizes = append(sizes, v.cell(i, row).max)
			}
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	return stat.Quantile(0.95, stat.Empirical, sizes, nil)
}

// fixTimestep names the present step and a smaller one.
func fixTimestep(c *Case) string {
	if dt := c.timestep(); dt > 0 && c.slowStep() == 0 {
		return fmt.Sprintf("Halve the timestep: %s to %s s%s.", num(dt), num(dt/2), c.decimationAdvice(2))
	}
	return sentence([]string{c.smallerStep()})
}

// checkIterations is row 6: Fisher's exact test of the env against the others.
func checkIterations(c *Case) (Status, string) {
	f := c.counterNamed("niter")
	n := c.iterations()
	env, ok := c.focus()
	if f.len() > 0 && n > 0 && c.healthy() {
		return c.iterationsOfAll(f, n)
	}
	if f.len() == 0 || n == 0 {
		return Unknown, "solver_niter or the limit of iterations is not recorded"
	}
	if !ok || f.row(env) < 0 {
		return Unknown, c.unblamed(f, "solver_niter").Text
	}
	lo, hi := f.window(c.lastReset(env, c.deadline()), c.deadline(), enough)
	hits, all, peerHits, peerAll, most := f.share(f.row(env), lo, hi, n)
	if all == 0 {
		return Unknown, "solver_niter of the env was not recorded before it went bad"
	}
	text := fmt.Sprintf("the solver was at its limit of %d in %d of %d substeps of env %d, and in %d of %d of the other envs in the file", n, hits, all, env, peerHits, peerAll)
	switch p := fisher(hits, all, peerHits, peerAll); {
	case hits > 0 && p < 0.01:
		return Implicated, fmt.Sprintf("%s (Fisher p %s)", text, num(p))
	case most < mostIterated*float64(n):
		return c.cleared(f, text)
	}
	return Unknown, text
}

// iterationsOfAll is row 6 where nothing went wrong and no env stands out.
func (c *Case) iterationsOfAll(f *field, limit int) (Status, string) {
	_, _, hits, all, _ := f.share(-1, 0, f.len(), limit)
	text := fmt.Sprintf("the solver was at its limit of %d in %d of %d substeps of all envs in the file", limit, hits, all)
	if hits > 0 {
		return Unknown, text
	}
	return c.cleared(f, text)
}

// share counts frames at the limit for one row and for the others.
func (f *field) share(row, lo, hi, limit int) (hits, all, peerHits, peerAll int, most float64) {
	for i := lo; i < hi; i++ {
		for r := range f.rows {
			v := f.cell(i, r).max
			at := v >= float64(limit)
			switch {
			case r == row:
				all++
				most = math.Max(most, v)
				if at {
					hits++
				}
			default:
				peerAll++
				if at {
					peerHits++
				}
			}
		}
	}
	return hits, all, peerHits, peerAll, most
}

// fisher returns the one-sided p value that a of n is more often than k of m.
func fisher(a, n, k, m int) float64 {
	total, hits := n+m, a+k
	p := 0.0
	for x := a; x <= min(n, hits); x++ {
		if hits-x <= m {
			p += math.Exp(logChoose(n, x) + logChoose(m, hits-x) - logChoose(total, hits))
		}
	}
	return math.Min(p, 1)
}

// logChoose returns ln of n over k.
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	d, _ := math.Lgamma(float64(n - k + 1))
	return a - b - d
}

// plenty is a number of iterations that is not what a solver lacks.
const plenty = 50

// raised returns half as many iterations more, 15 at least.
func raised(n int) int { return max(15, n+n/2) }

// fixIterations names the present limit.
func fixIterations(c *Case) string {
	switch n := c.iterations(); {
	case n >= plenty:
		return fmt.Sprintf("The solver has %d iterations: make the contacts softer instead.", n)
	case n > 0:
		return fmt.Sprintf("Raise iterations from %d to %d and ls_iterations to 25.", n, raised(n))
	}
	return "Raise iterations to 15 and ls_iterations to 25."
}

// checkCapacity is row 7.
func checkCapacity(c *Case) (Status, string) {
	f := c.feature(F4)
	switch f.Value {
	case yes, "said":
		return Implicated, f.Text
	case unknown:
		return Unknown, f.Text
	}
	most, text := 0.0, ""
	for _, b := range c.buffers() {
		if b.limit > 0 && b.f.len() > 0 {
			if use := b.f.largest(c.beginning()) / b.limit; use >= most {
				most, text = use, fmt.Sprintf("%s used %s of %s %s%s", b.f.Name, num(b.f.largest(c.beginning())), b.name, num(b.limit), c.ifWrong(" before it began"))
			}
		}
	}
	if most >= mostUsed {
		return Unknown, text
	}
	if fc := c.counterNamed("nefc", "ncon"); fc.len() > 0 && text != "" {
		return c.cleared(fc, text)
	}
	return Unknown, f.Text
}

// checkContacts is row 8.
func checkContacts(c *Case) (Status, string) {
	f := c.counterNamed("dist")
	env, ok := c.focus()
	if x := c.feature(X14); x.Value == "hard" {
		return Implicated, x.Text
	}
	if f.len() == 0 || !ok {
		if c.is(X14, "none", "never") {
			return Cleared, c.feature(X14).Text
		}
		if c.is(X2, yes) {
			return Cleared, c.feature(X2).Text
		}
		return Unknown, "penetration and contact forces are not recorded"
	}
	out := c.penetration(f, env)
	if out.Value == yes {
		return Implicated, out.Text
	}
	return c.cleared(f, out.Text)
}

// fixContacts says how to soften a contact.
func fixContacts(c *Case) string {
	dt := c.timestep()
	if spring, _ := c.extremeContacts(); dt > 0 && spring != nil && c.is(X14, "hard") {
		return fmt.Sprintf("Soften geom %s: a direct stiffness (solref) below %s instead of %s, or a timeconst of at least %s s.",
			spring.Name, num(1/(dt*dt)), num(-spring.SolRef[0]), num(2*dt))
	}
	if dt > 0 {
		return fmt.Sprintf("Soften the contacts: solref timeconst at least %s s (twice the timestep), condim 4, friction 0.8 0.005 0.001.", num(2*dt))
	}
	return "Soften the contacts: solref timeconst at least twice the timestep, condim 4, friction 0.8 0.005 0.001."
}

// checkStd is row 9.
func checkStd(c *Case) (Status, string) {
	f := c.feature(F10)
	switch {
	case f.Value == yes && c.is(X3, yes):
		return Implicated, f.Text + "; the rest of the learner ran away with it"
	case f.Value == yes || f.Value == sinking:
		return Implicated, f.Text
	case f.Value == no:
		return c.cleared(c.first(std, paramStd, logStd), f.Text)
	}
	return Unknown, f.Text
}

// checkGraph is row 10.
func checkGraph(c *Case) (Status, string) {
	f, x := c.feature(F12), c.feature(X8)
	switch {
	case f.Value == yes:
		return Implicated, f.Text
	case x.Value == yes:
		return Implicated, x.Text
	case f.Value == no && c.capturedLast():
		return Cleared, f.Text
	case f.Value == no:
		return Unknown, f.Text + ", but something was changed after the last capture"
	}
	return Unknown, f.Text
}

// capturedLast reports whether no array was changed after the last capture.
func (c *Case) capturedLast() bool {
	last := int64(0)
	for _, g := range c.captures() {
		last = max(last, g.tick)
	}
	for _, e := range c.man.Events {
		if changes(e) && e.Tick > last && e.Kind != "push" && e.Kind != "curriculum" {
			return false
		}
	}
	return true
}
