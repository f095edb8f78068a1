package rootcause

import (
	"slices"
	"strings"
)

// twin returns what this rank had itself of a statistic that the ranks share: a
// field with the words of its name and one that says "local", of its kind and
// width, with a frame since the step was last fine. It is nil without one.
func (c *Case) twin(r *step) *field {
	if about(r.name, localWords...) || r.f.PerEnv {
		return nil
	}
	want := nameWords(r.name)
	i := slices.IndexFunc(c.fields, func(f *field) bool {
		k := f.upTo(r.tick)
		if f.kind != r.f.kind || f.PerEnv || f.to-f.from != r.f.to-r.f.from || !about(f.Name, localWords...) || k < 0 || f.frames.Ticks[k] <= r.before {
			return false
		}
		has := nameWords(f.Name)
		return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(has, w) })
	})
	if i < 0 {
		return nil
	}
	return c.fields[i]
}

// nameWords splits a field's name at its dots and underscores.
func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '.' || r == '_' || r == '/' })
}
