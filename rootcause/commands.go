package rootcause

import "fmt"

// commandLed is X7 where it all began in a finite control or action that no
// robot is given: the physics of that env went bad after it, so it was driven.
func (c *Case) commandLed(r *step) (Feature, bool) {
	if !r.is(ctrl, action, mean) || nonFinite(r.class) || r.env < 0 {
		return Feature{}, false
	}
	for _, v := range c.fields {
		row := v.row(r.env)
		if v.len() == 0 || !v.kind.isBody() || row < 0 {
			continue
		}
		for i := v.upTo(r.tick) + 1; i < v.len(); i++ {
			if v.state(i, row) == "" {
				continue
			}
			return found(yes, fmt.Sprintf("%s%s was %s at tick %d, and %s followed at tick %d", r.f.label(max(r.col, 0)), inEnv(r.env), num(r.size), r.tick, v.Name, v.frames.Ticks[i])).
				in(r.f, r.env, r.col, r.tick), true
		}
	}
	return Feature{}, false
}

// heard returns what can be behind a finite value of a step although the step
// does not read it: an observation grows with the commands that shake its state.
func (s *step) heard() []kind {
	if s.f.kind == obs && !nonFinite(s.class) {
		return []kind{ctrl}
	}
	return nil
}
