package dump

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errNotMine is what an opener says of a file of another producer.
var errNotMine = errors.New("dump of another producer")

// openers recognise the producers, each by entries or metadata keys that no one
// before it has. The first that does not say errNotMine has the file.
var openers = []func(*File) error{
	(*File).openNanguard,
	(*File).openUniLab,
	(*File).openLuckyLab,
	(*File).openMjlab,
}

// recognise finds the producer and describes the file in its terms.
func (f *File) recognise() error {
	if err := f.readMetadata(); err != nil {
		return err
	}
	for _, open := range openers {
		if err := open(f); !errors.Is(err, errNotMine) {
			return err
		}
	}
	return &FormatError{File: f.name, Err: fmt.Errorf("is no NaN dump: %s; "+
		"_nanguard, _metadata, states_step_*, states or obs_step_* were expected", f.arc.contents())}
}

// contents names the first entries for a message.
func (a *archive) contents() string {
	switch n := len(a.names); {
	case n == 0 && len(a.files) == 0:
		return "the zip holds no .npy entry"
	case n <= 3:
		return "the zip holds " + quoteAll(a.names)
	default:
		return "the zip holds " + quoteAll(a.names[:3]) + moreText(n-3)
	}
}

// quoteAll quotes names for a message.
func quoteAll(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = quote(n)
	}
	return strings.Join(q, ", ")
}

const metadataEntry = "_metadata"

// readMetadata decodes the metadata, if there is any. A pickle that is not plain
// data makes the file refused; an entry that is damaged is a warning.
func (f *File) readMetadata() error {
	b, err := f.arc.pickle(metadataEntry)
	switch {
	case errors.Is(err, ErrNoEntry):
		return nil
	case err != nil:
		f.warn(fmt.Errorf("entry %s: %w; the dump is read without it", quote(metadataEntry), err))
		return nil
	}
	// No byte makes more than one object.
	if err = f.arc.budget.take(pickleCost * min(int64(len(b)), maxObjects)); err == nil {
		f.meta, err = unpickle(b)
	}
	if err != nil {
		return &FormatError{f.name, metadataEntry, err}
	}
	return nil
}

// dialect is how a dump of mjlab's family is recognised.
type dialect struct {
	format   string
	producer Producer
	is       func(f *File) bool
}

// dialects of mjlab's family, the most particular first.
var dialects = []dialect{
	{"ms_lab", Producer{"ms_lab", ""}, func(f *File) bool { return f.hasSteps("mocap_step_") }},
	{"parahand", Producer{"parahand", ""}, func(f *File) bool { return f.meta.has("non_finite_fields") || f.meta.has("dump_index") }},
	{"mjlab-v4", Producer{"mjlab", "V4"}, func(f *File) bool { return f.meta.has("state_spec") }},
	{"mjlab-v1", Producer{"mjlab", "V1"}, func(f *File) bool { return f.meta.has("num_envs_captured") }},
	{"mjlab-v2", Producer{"mjlab", "V2-V3"}, func(f *File) bool { return f.meta.has("dumped_env_ids") || f.meta.has("state_size") }},
	{"mjlab-v2", Producer{"unknown", ""}, func(f *File) bool { return f.meta.has("detection_step") || f.hasSteps(statesPrefix) }},
}

const statesPrefix = "states_step_"

// hasSteps reports whether the file holds entries with a prefix.
func (f *File) hasSteps(prefix string) bool {
	return slices.ContainsFunc(f.arc.names, func(n string) bool { return strings.HasPrefix(n, prefix) })
}

// openMjlab opens a dump of mjlab's NaN guard or of one of its forks.
func (f *File) openMjlab() error {
	i := slices.IndexFunc(dialects, func(d dialect) bool { return d.is(f) })
	if i < 0 {
		return errNotMine
	}
	d := dialects[i]
	f.format = d.format
	f.manifest = f.foreignManifest(d.producer)
	if f.meta == nil {
		f.warn(errors.New("entry \"_metadata\" is missing: which envs the rows are, and which of them went bad, is not known"))
	}
	f.openStates(FieldSpec{Name: StateField, Stage: StagePhysics, Clock: ClockSubstep, PerEnv: true})
	if d.format == "ms_lab" {
		f.addSteps("mocap_step_", FieldSpec{Name: "mocap", Stage: StagePhysics, Clock: ClockSubstep, PerEnv: true})
	}
	f.nameRows()
	f.checkCulprits()
	return nil
}

// luckyFields are the fields of LuckyLab, by the prefix of their entries.
var luckyFields = []struct {
	prefix string
	spec   FieldSpec
}{
	{"obs_step_", FieldSpec{Name: "obs", Stage: StageObs, Order: 0, Clock: ClockStep, PerEnv: true}},
	{"action_step_", FieldSpec{Name: "action", Stage: StagePolicy, Order: 1, Clock: ClockStep, PerEnv: true}},
	{"reward_step_", FieldSpec{Name: "reward", Stage: StageReward, Order: 2, Clock: ClockStep, PerEnv: true}},
}

// openLuckyLab opens a dump of LuckyLab: one env, no simulator state.
func (f *File) openLuckyLab() error {
	mine := false
	for _, field := range luckyFields {
		mine = mine || f.hasSteps(field.prefix)
	}
	if !mine || f.hasSteps(statesPrefix) {
		return errNotMine
	}
	f.format = "luckylab"
	f.manifest = f.foreignManifest(Producer{Name: "LuckyLab"})
	f.manifest.Clocks = map[Clock]int64{ClockStep: f.detectionStep()}
	for _, field := range luckyFields {
		f.addSteps(field.prefix, field.spec)
	}
	f.nameRows()
	return nil
}
