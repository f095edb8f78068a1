package detect

import (
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// Guard watches the fields of one training loop. Check, CheckSame, Note and
// Fact are for the goroutine of the loop; Poll, Wait and Close may be called
// from any.
type Guard struct{}

// New returns a guard with nothing bound.
func New(cfg Config) (*Guard, error) { return nil, nil }

// Bind adds a field under a name of the dump format ("qvel", "reward.upright",
// "policy.std"). The ref gives dtype and shape; a ref with an address is also
// what Check reads when it is called without one.
func (g *Guard) Bind(name string, ref tensor.Ref, o FieldOptions) (FieldID, error) { return 0, nil }

// Check advances the clock by one and captures fields: those given, at the
// addresses given, or every bound field of that clock.
func (g *Guard) Check(clock dump.Clock, refs ...FieldRef) error { return nil }

// CheckSame is Check without advancing the clock: for what belongs to the step
// under way (the policy's outputs before the env steps) or for a second look
// (the warm start right after a reset).
func (g *Guard) CheckSame(clock dump.Clock, refs ...FieldRef) error { return nil }

// Poll returns the verdict when something tripped. It never waits.
func (g *Guard) Poll() (Verdict, bool) { return Verdict{}, false }

// Dump writes what the guard holds now, whether or not anything tripped, and
// waits for the file. The reason becomes a note event; suspects are envs that
// the caller blames.
func (g *Guard) Dump(reason string, suspects ...int) (path string, err error) { return "", nil }

// Note records an event at the present tick.
func (g *Guard) Note(e dump.Event) {}

// Fact records what the run declared: numbers, strings and bools only.
func (g *Guard) Fact(name string, v any) error { return nil }

// Plan says in one line how many frames of each field the ring keeps.
func (g *Guard) Plan() string { return "" }

// Close waits for a dump under way and releases the memory. It may be called
// twice.
func (g *Guard) Close() error { return nil }
