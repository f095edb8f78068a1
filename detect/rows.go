package detect

import (
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// chooseRows returns the envs of a dump with their roles, as things stood at a
// tick: those that had gone bad, in that order, those that somebody blames and
// those that had run away, together at most MaxEnvs; then healthy ones for
// comparison. When there is nobody to blame, the whole number goes to healthy
// ones.
func (d *dumping) chooseRows(s *story, tick int64) (rows []int, roles []dump.Role) {
	add := func(envs []int, role dump.Role, limit int) {
		for _, e := range envs {
			if len(rows) < limit && !slices.Contains(rows, e) {
				rows, roles = append(rows, e), append(roles, role)
			}
		}
	}
	bad := s.badEnvsBy(tick)
	add(bad, dump.RoleCulprit, d.cfg.MaxEnvs)
	add(d.blamed, dump.RoleSuspect, d.cfg.MaxEnvs)
	if t := s.trip; t != nil && t.Env != nil {
		add([]int{*t.Env}, dump.RoleSuspect, d.cfg.MaxEnvs)
	}
	add(d.runaway(s, tick), dump.RoleSuspect, d.cfg.MaxEnvs)
	controls := d.cfg.ControlEnvs
	if len(rows) == 0 {
		controls += d.cfg.MaxEnvs
	}
	unfit := slices.Concat(bad, rows)
	add(d.controls(controls, unfit, d.recentlyReset(s, tick)), dump.RoleControl, len(rows)+controls)
	return rows, roles
}

// controls returns up to n healthy envs, spread over the range of envs. Envs
// that were reset while the frames were recorded have less of a past to compare
// with, so they come last.
func (d *dumping) controls(n int, unfit, young []int) []int {
	const isUnfit, isYoung, isFit = 0, 1, 2
	grade := make([]int, d.cfg.NumEnvs)
	for e := range grade {
		grade[e] = isFit
	}
	for _, e := range young {
		grade[e] = isYoung
	}
	for _, e := range unfit {
		grade[e] = isUnfit
	}
	var chosen []int
	for _, want := range []int{isFit, isYoung} {
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

// recentlyReset returns the envs that were reset between the oldest frame held
// and a tick.
func (d *dumping) recentlyReset(s *story, tick int64) []int {
	since := tick
	for _, f := range s.fields {
		if len(f.ticks) > 0 {
			since = min(since, f.ticks[0])
		}
	}
	var envs []int
	for _, e := range d.events.list {
		if e.Kind != dump.EventReset || e.Tick < since || e.Tick > tick {
			continue
		}
		for _, id := range e.Envs {
			if id >= 0 && id < d.cfg.NumEnvs {
				envs = append(envs, id)
			}
		}
	}
	return envs
}
