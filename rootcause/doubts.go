package rootcause

import (
	"fmt"
	"strings"
)

// doubts returns what a reader must know before trusting the diagnosis.
func (c *Case) doubts() []string {
	var d []string
	if c.rowsMissing() {
		d = append(d, c.notInFile())
	}
	if f := c.feature(F4); f.Value == yes && c.clean() {
		d = append(d, f.Text+": contacts may have been dropped")
	}
	if c.man.Run.WorldSize > 1 && c.is(F1, onLearner) {
		d = append(d, fmt.Sprintf("this is rank %d of %d: a NaN of another rank arrives through the all-reduce; look at the other ranks' dumps", c.man.Run.Rank, c.man.Run.WorldSize))
	}
	if c.states != nil && c.states.BeforeStep && c.guardFired() {
		d = append(d, "the states are those before each step: the step that failed is not shown")
	}
	if c.healthy() {
		d = append(d, c.quietDoubts()...)
	}
	return d
}

// culpritsUnseen reports whether no row of an env to blame is in the file and
// no trace shows it either: then nothing is evidence, and no verdict is earned.
func (c *Case) culpritsUnseen() bool {
	return c.root() == nil && c.rowsMissing()
}

// rowsMissing reports whether no row of an env to blame is in the file.
func (c *Case) rowsMissing() bool { return len(c.missing) > 0 && len(c.missing) == len(c.culprits) }

// notInFile says that no row of an env to blame is there. That some of many are
// not is as it should be: a dump holds the first that went bad.
func (c *Case) notInFile() string {
	told := "only the traces over all envs show it"
	if c.culpritsUnseen() {
		told = "nothing in these rows is evidence"
	}
	return fmt.Sprintf("the env to blame (%s) is not in the file, which holds envs %s: %s", ids(c.missing, 5), ids(c.man.EnvIDs, 8), told)
}

// ids writes a list of envs, of which it names at most n.
func ids(envs []int, n int) string {
	s := make([]string, len(envs))
	for i, e := range envs {
		s[i] = fmt.Sprint(e)
	}
	return few(s, n)
}

// unseen lists, as evidence of the hypothesis "unknown", why nothing tells.
func (c *Case) unseen() []Evidence {
	var out []Evidence
	add := func(feature FeatureID, text string) {
		out = append(out, Evidence{Feature: feature, Text: text, Favours: UnknownCause})
	}
	if c.culpritsUnseen() {
		add(F1, c.notInFile())
		return out
	}
	if c.root() == nil {
		add(F1, "nothing in the file leads up to it: "+strings.Join(c.wrong, "; "))
	}
	if c.is(F2, no) && c.guardFired() {
		add(F2, "the speeds were ordinary until the last recorded state: something outside the physics wrote a value, or a single impact did it")
	}
	return out
}

// lowCoverage says how little the file answers.
func (c *Case) lowCoverage() string {
	var lack []string
	for i := range c.features {
		if f := &c.features[i]; f.ID[0] == 'F' && !f.known() && !f.Recorded && f.ID != F13 && f.ID != F14 {
			lack = append(lack, ruleOf(f.ID).name)
		}
	}
	return fmt.Sprintf("LOW COVERAGE: the dump answers %.0f of 15 questions; not recorded is what %s would need (docs/causes.md)", c.coverage()*15, few(lack, 4))
}
