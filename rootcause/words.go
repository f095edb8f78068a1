package rootcause

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/mjb"
)

// words says what a class means in a sentence.
var words = map[string]string{
	"nan": "NaN", "posinf": "+Inf", "neginf": "-Inf",
	huge: "huge", growing: "running away", negative: "at or below zero", masked: "replaced",
	extreme: "out of any sensible range",
}

// num writes a number with three digits, without the padding of %g exponents.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	s = strings.Replace(s, "e+0", "e", 1)
	s = strings.Replace(s, "e-0", "e-", 1)
	return strings.Replace(s, "e+", "e", 1)
}

// times writes a factor, "" when it is none.
func times(v float64) string {
	if v <= 0 || !finite(v) {
		return ""
	}
	return num(v) + "x"
}

// quantity writes a value with its unit, where the unit is known.
func (c *Case) quantity(f *field, col int, v float64) string {
	if u := c.unit(f, col); u != "" {
		return num(v) + " " + u
	}
	return num(v)
}

// unit returns the unit of a column, "" when it is not known.
func (c *Case) unit(f *field, col int) string {
	if f.Unit != "" {
		return f.Unit
	}
	if f.kind != qvel {
		return ""
	}
	name := strings.ToLower(f.column(col))
	for _, u := range []struct{ end, unit string }{
		{"vx", "m/s"}, {"vy", "m/s"}, {"vz", "m/s"}, {"wx", "rad/s"}, {"wy", "rad/s"}, {"wz", "rad/s"},
	} {
		if strings.HasSuffix(name, u.end) {
			return u.unit
		}
	}
	if j := c.joint(col); j != nil {
		if j.Type == mjb.SlideJoint || j.Type == mjb.FreeJoint && col-j.DofAdr < 3 {
			return "m/s"
		}
		return "rad/s"
	}
	return ""
}

// joint returns the joint of a degree of freedom, nil without a model.
func (c *Case) joint(dof int) *mjb.Joint {
	if c.model == nil {
		return nil
	}
	var best *mjb.Joint
	for i := range c.model.Joints {
		if j := &c.model.Joints[i]; j.DofAdr <= dof && (best == nil || j.DofAdr > best.DofAdr) {
			best = j
		}
	}
	return best
}

// clockWord names the frames of a field.
func (f *field) clockWord(n int) string {
	word := "frame"
	if f.Clock != "" {
		word = string(f.Clock)
	}
	switch {
	case n != 1 && strings.HasSuffix(word, "h"):
		word += "es"
	case n != 1:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// label names a column with its field: "qvel left_knee", or the column alone
// where the label says what it is.
func (f *field) label(col int) string {
	name := f.column(col)
	if strings.HasPrefix(name, f.Name) || f.kind != state && strings.HasPrefix(name, kindNames[f.kind]) && kindNames[f.kind] != "" {
		return name
	}
	return f.Name + " " + name
}

// kindNames holds the words that labels of a state vector begin with.
var kindNames = map[kind]string{qpos: "qpos", qvel: "qvel", act: "act"}

// inEnv returns " of env 3", or "" for a value of the whole run.
func inEnv(env int) string {
	if env < 0 {
		return ""
	}
	return fmt.Sprintf(" of env %d", env)
}

// say describes a way up: who, how much, in how many frames, by which law.
func (c *Case) say(g *growth, env int) string {
	f, i := g.f, g.to
	who := f.label(g.lead) + inEnv(env)
	size := c.quantity(f, g.lead, g.end)
	if g.end <= f.limit && !(g.end > 10*f.base && g.rate >= 0.3) {
		return fmt.Sprintf("no way up: the largest speed%s is %s (%s), in a usual range (healthy: %s)", inEnv(env), size, f.label(g.lead), num(f.base))
	}
	text := fmt.Sprintf("%s grew %s in the last %s to %s", who, times(g.factor()), f.clockWord(g.frames()), size)
	if g.frames() == 0 || g.factor() < 1.5 {
		text = fmt.Sprintf("%s stands at %s", who, size)
	}
	text += fmt.Sprintf("; the fastest of %d columns", f.to-f.from)
	if early, ok := c.leader(g); ok && early != g.lead {
		text += fmt.Sprintf(", led by %s", f.label(early))
	}
	if g.peers > 0 {
		text += fmt.Sprintf("; %s the median of the other envs", times(g.end/g.peers))
	}
	return text + c.energy(g) + c.law(g) + fmt.Sprintf(" (tick %d)", f.frames.Ticks[i])
}

// law adds the law of growth in words.
func (c *Case) law(g *growth) string {
	switch g.law {
	case "jump":
		if g.frames() <= 1 {
			return "; a jump, as an impact or a single bad step makes it"
		}
		return "; faster and faster, as a step that can no longer follow makes it"
	case "accelerating":
		return fmt.Sprintf("; accelerating: the growth per %s itself grows, as contacts and stiff servos make it", strings.TrimSuffix(g.f.clockWord(1)[2:], "s"))
	case "exponential":
		return fmt.Sprintf("; exponential, x%.3g a %s for %d", math.Exp(g.slope), strings.TrimSuffix(g.f.clockWord(1)[2:], "s"), g.frames())
	}
	return ""
}

// leader returns the column that first exceeded ten times the healthy size.
func (c *Case) leader(g *growth) (int, bool) {
	for i := g.from; i <= g.to; i++ {
		if cell := g.f.cell(i, g.row); cell.max > math.Max(10*g.f.base, 30) {
			return int(cell.arg), true
		}
	}
	return 0, false
}

// list joins words with commas and "and".
func list(v []string) string {
	if len(v) < 2 {
		return strings.Join(v, "")
	}
	return strings.Join(v[:len(v)-1], ", ") + " and " + v[len(v)-1]
}

// few returns at most n names, and how many there are more.
func few(v []string, n int) string {
	if len(v) <= n {
		return list(v)
	}
	return strings.Join(slices.Clone(v[:n]), ", ") + fmt.Sprintf(" and %d more", len(v)-n)
}
