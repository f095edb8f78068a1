package rootcause

// judge looks for one sign of a feature that has several.
type judge func(*Case) (Feature, bool)

// firstOf returns the first sign that is there.
func (c *Case) firstOf(judges ...judge) (Feature, bool) {
	for _, look := range judges {
		if f, ok := look(c); ok {
			return f, true
		}
	}
	return Feature{}, false
}

// ofRoot makes a judge of one that looks at the step in which it began, where the file
// holds something of it.
func ofRoot(look func(*Case, *step) (Feature, bool)) judge {
	return func(c *Case) (Feature, bool) {
		if r := c.root(); r.placed() {
			return look(c, r)
		}
		return Feature{}, false
	}
}
