package rootcause

import (
	"fmt"
	"math"
	"strings"
)

// fixContact names the step and the solver's limits that the run used.
func fixContact(c *Case) string {
	parts := []string{c.smallerStep()}
	if n := c.iterations(); n > 0 && n < 15 {
		parts = append(parts, fmt.Sprintf("raise iterations from %d to %d and ls_iterations to 25", n, raised(n)))
	}
	parts = append(parts, "soften the contacts (solref timeconst at least twice the timestep, condim 4, friction 0.8 0.005 0.001)")
	return sentence(parts)
}

// smallerStep says how to make the timestep smaller: to where no body moves further
// than its half-width in it, or else to half of what it is.
func (c *Case) smallerStep() string {
	dt := c.timestep()
	switch slow := c.slowStep(); {
	case dt <= 0:
		return "halve the timestep and double the decimation"
	case slow > 0 && slow < dt/2:
		n := math.Ceil(dt / slow)
		return fmt.Sprintf("shorten the timestep from %s to %s s%s, or limit the speeds: %s", num(dt), num(dt/n), c.decimationAdvice(int(n)), c.feature(X26).Text)
	}
	return fmt.Sprintf("halve the timestep (%s to %s s%s)", num(dt), num(dt/2), c.decimationAdvice(2))
}

// decimationAdvice says what keeps the control rate when the step is one n-th.
func (c *Case) decimationAdvice(n int) string {
	switch _, ok := c.fact("sim.decimation"); {
	case ok:
		return fmt.Sprintf(", decimation %d to %d", c.decimation(), n*c.decimation())
	case n == 2:
		return ", and double the decimation"
	}
	return fmt.Sprintf(", and %d times the decimation", n)
}

// sentence joins pieces of advice.
func sentence(parts []string) string {
	s := strings.Join(parts, "; ")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func fixReward(c *Case) string {
	what := "the reward term"
	if r := c.root(); r.is(term, reward) {
		what = r.name
	}
	return fmt.Sprintf("Give %s a bounded form, exp(-d^2/sigma^2) instead of 1/d, or clamp the denominator; do not hide it with nan_to_num.", what)
}

func fixNormalizer(c *Case) string {
	eps := "the normalizer's eps"
	if e := c.epsilon(); finite(e) {
		eps = fmt.Sprintf("eps (now %s)", num(e))
	}
	return fmt.Sprintf("Run about 500 steps of random actions before training so that the running variance settles, drop or rescale observations that do not vary, keep the variance in float64 or clamp it at zero, and raise %s.", eps)
}

func fixStd(c *Case) string {
	if c.scheduled() > 0 {
		return "Give the schedule of the std a floor above zero (0.05), and stop it there."
	}
	if c.stdParam() == "log" {
		return "Clamp log_std (for example to [-5, 2]) and lower the entropy bonus or the learning rate."
	}
	return "Learn log_std (or softplus of a parameter) instead of a raw std, with a floor of 0.05, and lower the learning rate of that parameter."
}

func fixGraph(*Case) string {
	return "Capture the graph again (create_graph()) after anything that moves or reshapes arrays (expand_model_fields, sensor contexts, another number of envs); run once with graphs off: if it goes away, it was the graph."
}

func fixCapacity(c *Case) string {
	nj, _ := c.fact("sim.njmax")
	nc, _ := c.fact("sim.nconmax")
	if nj <= 0 && nc <= 0 {
		return "Raise nconmax and njmax to 1.5 times the largest count that you measure."
	}
	return fmt.Sprintf("Raise njmax (now %s) and nconmax (now %s) to 1.5 times the largest count that you measure.", num(nj), num(nc))
}

func fixModel(c *Case) string {
	if e := c.feature(X1); e.Value == yes {
		return fmt.Sprintf("Look at the values of %s in env %d: narrow the randomisation to what the step of %s s bears (kp*dt^2 below the inertia), or add armature.", e.Field, e.Env, num(c.timestep()))
	}
	if e := c.feature(X28); e.known() {
		return fmt.Sprintf("Narrow the randomisation of %s, and clamp it to what can be, above zero for masses, inertias, damping and stiffness: %s.", e.Field, e.Text)
	}
	if s := c.stiffest(); s != nil && s.wdt > shaky {
		return fmt.Sprintf("Lower kp of %s from %s to below %s, add armature, or halve the timestep of %s s.", s.name, num(s.kp), num(s.kp/(s.wdt*s.wdt)), num(c.timestep()))
	}
	if f := c.feature(X6); f.Value == "impossible" {
		return "Correct the model file: " + strings.Replace(f.Text, "the model holds", "it holds", 1) + "."
	}
	if s := c.strongest(); s != nil && s.turn > jerky {
		return fmt.Sprintf("Divide gear or gain of actuator %s by %s or more, or limit its force: at full torque it turns its joint by %s rad or m in one step of %s s; or give back the mass that it should move.",
			s.name, num(math.Ceil(s.turn/jerky*2)), num(s.turn), num(c.timestep()))
	}
	return "Check masses, inertias, armature, gains and randomised arrays of the env that ran away; a joint that runs away without contact is driven by its own actuator: lower kp and kd, add armature."
}

func fixSensor(c *Case) string {
	if f, ok := c.stuckReading(); ok && c.is(X25, spikes) {
		return fmt.Sprintf("Let the reader of %s say that it has no new sample (a time stamp, a flag) and end the episode or mask the columns then, instead of handing out the last one again; look for its timeouts in env %d.", f.Field, f.Env)
	}
	what := "the sensor"
	if r := c.root(); r.placed() && r.col >= 0 {
		what = r.f.label(r.col)
	}
	return fmt.Sprintf("Give %s a finite value where it has none (a ray that misses, a contact without force), before it enters an observation or a reward.", what)
}

func fixReset(*Case) string {
	return "Write every array of the simulator at a reset, the warm start (qacc_warmstart), activations and histories too, not only qpos and qvel, and check the initial pose for penetration."
}

func fixAction(c *Case) string {
	switch f := c.feature(X7); {
	case f.Value == yes && strings.Contains(f.Text, windsUpWords):
		return "Clamp what is added up to the command (anti-windup), or let it leak, and give the actuators a range of controls (ctrlrange)."
	case f.Value == yes && strings.Contains(f.Text, climbsWords):
		return "Clip the actions before they reach the simulator, and lower the learning rate: normalise the advantages, keep PPO's clip and a limit on the KL."
	}
	if f := c.feature(X27); f.Value == "open" {
		return "Give every actuator a range of controls (ctrlrange) or of forces (forcerange), halve the action scale, and clip the joint targets to the joint ranges."
	}
	if v, ok := c.fact("action.scale"); ok {
		return fmt.Sprintf("Halve the action scale (now %s) and clip the joint targets to the joint ranges.", num(v))
	}
	return "Halve the action scale and clip the joint targets to the joint ranges."
}

func fixLearner(c *Case) string {
	rate := "the learning rate"
	if f := c.first(lr); f != nil {
		rate = fmt.Sprintf("the learning rate (up to %s here)", num(f.largest(c.deadline())))
	}
	return fmt.Sprintf("Lower %s, clip gradients and the log-ratio (below 20), clip or rescale rewards and value targets.", rate)
}

func fixMath(c *Case) string {
	what := "the formula"
	if r := c.root(); r.placed() && r.col >= 0 {
		what = "the formula behind " + r.f.label(r.col)
	}
	return fmt.Sprintf("Keep %s inside its domain: clamp before acos, log and sqrt, add a floor to norms that are divided by.", what)
}

func fixPrecision(c *Case) string {
	if _, ok := c.scaledOver(); ok {
		return "Skip the optimizer's step where a gradient is not finite and halve the scale (torch.amp.GradScaler does both; call unscale_ before clipping), cap the scale, or train in bfloat16, which needs none."
	}
	if _, ok := c.allFlushed(); ok {
		return "Scale the loss (torch.amp.GradScaler; unscale_ before clipping) so that gradients stay above the smallest number of float16, or train in bfloat16, which needs no scaling."
	}
	return "Keep log_alpha, its optimizer and every small scalar that is learned in float32 (outside autocast), and check the update: it must be at least half a unit in the last place of the value."
}

func fixPadding(c *Case) string {
	if _, ok := c.neverFilled(); ok {
		return "Draw the indices of a batch below the number of samples that the buffer holds, not below its capacity, and start to learn only when it holds some batches."
	}
	return "Fill the rows of finished or padded steps with finite values, and mask with where (not with a product, for 0*NaN is NaN) before values, returns and losses are computed."
}

func fixLost(*Case) string {
	return "Save mean, variance and count of the normalizer in the checkpoint and load them before the first observation, in training and in evaluation; freeze them in evaluation."
}

func fixRanks(c *Case) string {
	if c.is(X20, yes) && c.root() == nil {
		return "Average the gradients of all ranks in every minibatch (no rank may skip it or leave DistributedDataParallel), broadcast the weights at the start and after loading, keep learning rate and clipping the same on all ranks, and compare a checksum of the weights now and then."
	}
	if n := c.man.Run.WorldSize; n > 1 {
		return fmt.Sprintf("Compare the dumps of all %d ranks from before the all-reduce to find the guilty one; check that seeds differ, weights are broadcast at the start, and a bad gradient is refused on every rank at once.", n)
	}
	return "Compare the dumps of all ranks from before the all-reduce to find the guilty one; check that weights are broadcast at the start, and that a bad gradient is refused on every rank at once."
}

func fixKernel(c *Case) string {
	if dt := c.timestep(); dt > 0 {
		return fmt.Sprintf("Halve the timestep (%s to %s s), try the implicitfast integrator, and look at tendons, fluid forces and bodies almost without mass; replay the last state in float64: if it stays finite, report it to the simulator.", num(dt), num(dt/2))
	}
	return "Halve the timestep, try the implicitfast integrator, and look at tendons, fluid forces and bodies almost without mass; replay the last state in float64: if it stays finite, report it to the simulator."
}

func fixAutodiff(*Case) string {
	return "Look for a norm, sqrt, log, acos or division at zero in the loss: put a floor inside it, and use where twice (make the input safe before the function, not only its result); torch.autograd.set_detect_anomaly names the line."
}

func fixBackend(*Case) string {
	return "Run the same seed on another GPU, driver or compiler version, and with compilation and graphs off; pin the version that works."
}

func fixMasked(c *Case) string {
	if _, ok := c.skipping(); ok || c.is(X24, halted) {
		return "Record the norm of each parameter's gradient before it is clipped, zeroed or skipped, and stop the run after a few thrown away steps in a row: the parameter that is non-finite first names the layer, torch.autograd.set_detect_anomaly the operation."
	}
	return "Take nan_to_num and its kind out, or count what they replace and record the values before they do; watch the engine's own warnings (MuJoCo resets a bad state by itself)."
}

func fixUnknown(c *Case) string {
	if len(c.missing) > 0 {
		return "Dump the envs that went bad, not the first ones (mjlab 1.3 and later, or nanguard's guard, do)."
	}
	return "Run again with nanguard's guard over all stages, so that the first bad value and what it was made from are in the dump."
}
