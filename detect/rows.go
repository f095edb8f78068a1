package detect

import (
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// chooseRows returns the envs of a dump with their roles: those that went bad,
// in that order, those that the caller blames and those that ran away, together
// at most MaxEnvs; then healthy ones for comparison. When there is nobody to
// blame, the whole number goes to healthy ones.
func (g *Guard) chooseRows(blamed []int) (rows []int, roles []dump.Role) {
	add := func(envs []int, role dump.Role, limit int) {
		for _, e := range envs {
			if len(rows) < limit && !slices.Contains(rows, e) {
				rows, roles = append(rows, e), append(roles, role)
			}
		}
	}
	add(g.badEnvs.order, dump.RoleCulprit, g.cfg.MaxEnvs)
	add(blamed, dump.RoleSuspect, g.cfg.MaxEnvs)
	add(g.runaway(), dump.RoleSuspect, g.cfg.MaxEnvs)
	controls := g.cfg.ControlEnvs
	if len(rows) == 0 {
		controls += g.cfg.MaxEnvs
	}
	add(g.controls(controls, rows), dump.RoleControl, len(rows)+controls)
	return rows, roles
}

// controls returns up to n healthy envs, spread over the range of envs. Envs
// that were reset while the present frames were recorded have less of a past to
// compare with, so they come last.
func (g *Guard) controls(n int, taken []int) []int {
	const unfit, young, fit = 0, 1, 2
	grade := make([]int, g.cfg.NumEnvs)
	for e := range grade {
		grade[e] = fit
		if g.badEnvs.bad[e] {
			grade[e] = unfit
		}
	}
	for _, e := range g.recentlyReset() {
		grade[e] = min(grade[e], young)
	}
	for _, e := range taken {
		grade[e] = unfit
	}
	var chosen []int
	for _, want := range []int{fit, young} {
		chosen = append(chosen, spread(n-len(chosen), grade, want)...)
	}
	slices.Sort(chosen)
	return chosen
}

// spread returns up to n envs of a grade: the first at or after each of n
// places that stand evenly over the range. It takes them out of grade.
func spread(n int, grade []int, want int) []int {
	var chosen []int
	for k := range n {
		start := (2*k + 1) * len(grade) / (2 * n)
		for i := range grade {
			if e := (start + i) % len(grade); grade[e] == want {
				grade[e] = -1
				chosen = append(chosen, e)
				break
			}
		}
	}
	return chosen
}

// recentlyReset returns the envs that were reset since the oldest frame that the
// rings hold.
func (g *Guard) recentlyReset() []int {
	since := g.tick
	for _, f := range g.fields {
		if f.ring.n > 0 {
			since = min(since, f.ring.ticks[f.ring.oldest(0)])
		}
	}
	var envs []int
	for _, e := range g.events.list {
		if e.Kind != dump.EventReset || e.Tick < since {
			continue
		}
		for _, id := range e.Envs {
			if id >= 0 && id < g.cfg.NumEnvs {
				envs = append(envs, id)
			}
		}
	}
	return envs
}
