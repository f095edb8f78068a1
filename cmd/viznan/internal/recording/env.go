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

// Unlisted is the bad envs that are neither in the file nor, being many, in the
// list of envs: they have one place in it together.
type Unlisted struct {
	IDs   []int
	Place int // index in the list before which they stand
}

var rolePlace = map[dump.Role]int{dump.RoleCulprit: 0, dump.RoleSuspect: 1, dump.RoleControl: 2}

// RoleBad is the role of an env that went bad and is not in the file, where
// nothing says that it was the first.
const RoleBad dump.Role = "bad"

// maxMissing is how many envs of that role are listed one by one.
const maxMissing = 3

// envs lists the rows of the file, culprits first and otherwise in their order,
// and behind them the bad envs that the file lacks. Where no row is of a culprit
// or a suspect, the file misses the very env that matters: those that it lacks
// come first then.
func (r *Recording) envs(s *dump.StateInfo) {
	r.Envs = rows(r.manifest)
	if s == nil {
		return
	}
	inFile := len(r.Envs) > 0 && place(r.Envs[0].Role) <= rolePlace[dump.RoleSuspect]
	missing, many := r.missing(s.CulpritsMissing, !inFile)
	at := 0
	if inFile {
		at = len(r.Envs)
	}
	r.Envs = slices.Insert(r.Envs, at, missing...)
	if len(many) > 0 {
		r.Unlisted = Unlisted{many, at + len(missing)}
	}
}

// missing returns the bad envs that are not in the file, a culprit first, and
// apart from them those that are too many to list. The culprit is the env that
// tripped, or the only bad one where none tripped and none is in the file.
func (r *Recording) missing(ids []int, none bool) (list []Env, many []int) {
	t := r.manifest.Trip
	for _, id := range ids {
		if t != nil && t.Env != nil && *t.Env == id || t == nil && none && len(ids) == 1 {
			list = append(list, Env{ID: id, Role: dump.RoleCulprit, Missing: true})
		} else {
			many = append(many, id)
		}
	}
	if len(many) > maxMissing {
		return list, many
	}
	for _, id := range many {
		list = append(list, Env{ID: id, Role: RoleBad, Missing: true})
	}
	return list, nil
}

// rows lists the rows of the file by role.
func rows(m *dump.Manifest) (list []Env) {
	for i, id := range m.EnvIDs {
		e := Env{ID: id, Role: dump.RoleControl}
		if i < len(m.EnvRoles) {
			e.Role = m.EnvRoles[i]
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b Env) int { return place(a.Role) - place(b.Role) })
	return list
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

// lead returns the env to look at where a place names none: the one where it
// began, else the one that tripped, else the first of the list that is in the
// file, where culprits stand before suspects; -1 when there is none.
func (r *Recording) lead() int {
	var named []*int
	if r.Diagnosis != nil && r.Diagnosis.Root != nil {
		named = append(named, r.Diagnosis.Root.Env)
	}
	if t := r.Trip(); t != nil {
		named = append(named, t.Env)
	}
	for _, id := range named {
		if id == nil {
			continue
		}
		if i := r.Env(*id); i >= 0 && !r.Envs[i].Missing {
			return i
		}
	}
	return slices.IndexFunc(r.Envs, func(e Env) bool { return !e.Missing })
}
