package recording

import (
	"slices"

	"github.com/nanguard/nanguard/dump"
)

// Env is one world of the run.
type Env struct {
	ID       int
	Role     dump.Role
	Missing  bool  // bad, but its rows are not in the file
	Bad      bool  // a frame that is loaded holds a non-finite value of it
	FirstBad int64 // tick of that frame, when Bad
}

var rolePlace = map[dump.Role]int{dump.RoleCulprit: 0, dump.RoleSuspect: 1, dump.RoleControl: 2}

// envs lists the rows of the file, culprits first and otherwise in their order.
// Bad envs that are not in the file come last, where they went bad after those
// that are; where none is, they are the culprits and come first.
func envs(m *dump.Manifest, s *dump.StateInfo) (list []Env) {
	for i, id := range m.EnvIDs {
		e := Env{ID: id, Role: dump.RoleControl}
		if i < len(m.EnvRoles) {
			e.Role = m.EnvRoles[i]
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b Env) int { return place(a.Role) - place(b.Role) })
	if s == nil {
		return list
	}
	var missing []Env
	for _, id := range s.CulpritsMissing {
		missing = append(missing, Env{ID: id, Role: dump.RoleCulprit, Missing: true})
	}
	if len(list) > 0 && list[0].Role == dump.RoleCulprit {
		return append(list, missing...)
	}
	return append(missing, list...)
}

// place orders roles; one that is not known stands last.
func place(r dump.Role) int {
	if p, ok := rolePlace[r]; ok {
		return p
	}
	return len(rolePlace)
}

// noteEnvs moves the first bad ticks of envs to those of a track that is
// earlier.
func (r *Recording) noteEnvs(t *Track) {
	if !t.PerEnv() {
		return
	}
	for i := range r.Envs {
		e := &r.Envs[i]
		row, ok := t.Row(e.ID)
		if !ok {
			continue
		}
		if f, bad := t.Onset(row); bad && (!e.Bad || t.Tick(f) < e.FirstBad) {
			e.Bad, e.FirstBad = true, t.Tick(f)
		}
	}
}

// Reference returns the env to compare with: the first control other than env
// that is in the file, else the first other env. ok is false when there is
// none.
func (r *Recording) Reference(env int) (index int, ok bool) {
	for _, want := range []dump.Role{dump.RoleControl, dump.RoleSuspect, dump.RoleCulprit} {
		for i, e := range r.Envs {
			if i != env && !e.Missing && e.Role == want {
				return i, true
			}
		}
	}
	return 0, false
}
