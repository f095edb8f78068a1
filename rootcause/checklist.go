package rootcause

import "fmt"

// check is one row of the ten-row priority table: the order of the table is by
// how cheap and certain the check is, not by how likely the cause.
type check struct {
	name  string
	cause string
	cost  float64 // of acting on it, in rough units of work
	clear string  // what would clear the row
	judge func(*Case) (Status, string)
	fix   func(*Case) string
}

// checks is the table.
var checks = []check{
	{
		name: "division in a reward", cause: RewardOverflow, cost: 1, judge: checkReward, fix: fixReward,
		clear: "every reward term by name over 20 env steps before it began, none beyond a hundred times its usual size",
	},
	{
		name: "action scale", cause: ContactDivergence, cost: 1, judge: checkAction, fix: fixAction,
		clear: "action of the env to blame over 20 env steps, below three times what all others give",
	},
	{
		name: "normalizer warmed up", cause: NormalizerCold, cost: 1, judge: checkNormalizer, fix: fixNormalizer,
		clear: "the normalized observation over 20 env steps, with |z| below 50",
	},
	{
		name: "actuator gains", cause: ContactDivergence, cost: 2, judge: checkGains, fix: fixGains,
		clear: "a model file whose gains give sqrt(kp/inertia)*dt below 0.3",
	},
	{
		name: "timestep", cause: ContactDivergence, cost: 1, judge: checkTimestep, fix: fixTimestep,
		clear: "qvel over 20 substeps with the timestep, moving less than a rad or m a step, and no runaway",
	},
	{
		name: "solver iterations", cause: ContactDivergence, cost: 1, judge: checkIterations, fix: fixIterations,
		clear: "solver_niter over 20 substeps, below 0.8 of the limit",
	},
	{
		name: "nconmax and njmax", cause: ContactDivergence, cost: 1, judge: checkCapacity, fix: fixCapacity,
		clear: "nefc and ncon over 20 substeps with their limits, below 0.9 of them",
	},
	{
		name: "contact parameters", cause: ContactDivergence, cost: 2, judge: checkContacts, fix: fixContacts,
		clear: "contact distances over 20 substeps, above -1 cm",
	},
	{
		name: "policy std parameterisation", cause: PolicyStd, cost: 1, judge: checkStd, fix: fixStd,
		clear: "policy.std over 20 env steps, above ten times its clamp",
	},
	{
		name: "CUDA graph", cause: StaleGraph, cost: 2, judge: checkGraph, fix: fixGraph,
		clear: "captures and addresses as events and facts, equal, and nothing changed after the last capture",
	},
}

// checklist judges the ten rows.
func (c *Case) checklist() []Check {
	out := make([]Check, 0, len(checks))
	for i, k := range checks {
		status, evidence := k.judge(c)
		out = append(out, Check{Row: i + 1, Check: k.name, Status: status, Evidence: evidence, Fix: k.fix(c), Cause: k.cause, Clears: k.clear})
	}
	return out
}

// enough is how many frames before the onset a negative test needs to clear a
// row.
const enough = 20

// cleared clears a row when the test was negative over enough frames of f in
// the env to blame, or says that it was over all there are.
func (c *Case) cleared(f *field, text string) (Status, string) {
	n := f.len()
	if env, ok := c.focus(); ok && f.len() > 0 {
		lo, hi := f.window(start, c.beginning(), f.len())
		n = hi - lo
		if f.row(env) < 0 {
			return Unknown, "the rows of the env to blame are not in the file"
		}
	}
	switch {
	case n == 0:
		return Unknown, "nothing recorded" + c.ifWrong(" before it began")
	case n < enough && c.short(f):
		return Cleared, fmt.Sprintf("%s, over all %s%s", text, f.clockWord(n), c.ifWrong(" before it began"))
	case n < enough:
		return Unknown, fmt.Sprintf("%s, but over %s only", text, f.clockWord(n))
	}
	return Cleared, fmt.Sprintf("%s, over %s", text, f.clockWord(n))
}

// short reports whether the file holds every frame of f from the start of the
// run: then there is no more to test.
func (c *Case) short(f *field) bool {
	return f.len() > 0 && len(f.frames.Counts) > 0 && f.frames.Counts[0] <= 1
}
