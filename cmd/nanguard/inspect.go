package main

import (
	"github.com/spf13/cobra"

	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/internal/forensics"
)

// inspection is the JSON of the inspect command: what is in a dump.
type inspection struct {
	File      string          `json:"file"`
	Producer  string          `json:"producer"`
	Format    string          `json:"format"`
	NumEnvs   int             `json:"num_envs"`
	EnvIDs    []int           `json:"env_ids"`
	EnvRoles  []dump.Role     `json:"env_roles"`
	Steps     stepRange       `json:"steps"`
	StateSize int             `json:"state_size"`
	Columns   stateColumns    `json:"columns"`
	Model     *modelInfo      `json:"model"`
	Fields    []fieldInfo     `json:"fields"`
	Trip      *dump.Trip      `json:"trip"`
	FirstBad  []dump.FirstBad `json:"first_bad"`
	Events    []dump.Event    `json:"events"`
	Facts     any             `json:"facts"`
	Warnings  []string        `json:"warnings"`
}

// stepRange says which simulator steps the states are of or, in a dump without
// states, which counts the field with most frames has.
type stepRange struct {
	Count int   `json:"count"`
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// stateColumns holds the labels of the state vector.
type stateColumns struct {
	State []string `json:"state"`
}

// modelInfo is the model beside the dump.
type modelInfo struct {
	File   string `json:"file"`
	MuJoCo string `json:"mujoco"`
	NQ     int    `json:"nq"`
	NV     int    `json:"nv"`
	NA     int    `json:"na"`
}

// fieldInfo is one field with the size of what was captured of it.
type fieldInfo struct {
	Name    string     `json:"name"`
	Stage   dump.Stage `json:"stage"`
	Clock   dump.Clock `json:"clock"`
	DType   string     `json:"dtype"`
	Frames  int        `json:"frames"`
	Rows    int        `json:"rows"`
	Cols    int        `json:"cols"`
	PerEnv  bool       `json:"per_env"`
	Unit    string     `json:"unit"`
	Columns []string   `json:"columns"`
}

// newInspect returns the inspect command.
func newInspect(g *globals) *cobra.Command {
	return dumpArg(&cobra.Command{
		Use:     "inspect DUMP",
		Short:   "Say what is in a dump",
		Example: "  nanguard inspect nan_dump_latest.npz\n  nanguard inspect nan_dump_latest.npz --json | jq .columns.state",
		RunE: func(c *cobra.Command, args []string) error {
			f, err := g.open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			in := inspect(f, args[0])
			if g.json {
				return writeJSON(c.OutOrStdout(), in)
			}
			return in.print(c.OutOrStdout())
		},
	}, 1)
}

// inspect collects what the command prints. It reads every field once, so that
// what is wrong with one of them is among the warnings.
func inspect(f *dump.File, name string) *inspection {
	m := f.Manifest()
	in := &inspection{
		File: name, Producer: forensics.Producer(m), Format: f.Format(),
		NumEnvs: m.NumEnvs, EnvIDs: list(m.EnvIDs), EnvRoles: list(m.EnvRoles),
		Columns: stateColumns{list(f.Columns(dump.StateField))},
		Model:   inspectModel(f), Fields: []fieldInfo{},
		Trip: m.Trip, FirstBad: list(m.FirstBad), Events: inspectEvents(m), Warnings: []string{},
	}
	in.Facts = plain(m.Facts)
	in.Steps, in.StateSize = inspectStates(f)
	for _, s := range m.Fields {
		in.Fields = append(in.Fields, inspectField(f, s))
	}
	for _, w := range f.Warnings() {
		in.Warnings = append(in.Warnings, w.Error())
	}
	return in
}

// inspectStates returns the steps and the width of the state vectors.
func inspectStates(f *dump.File) (stepRange, int) {
	s := f.States()
	if s == nil || len(s.Steps) == 0 {
		return longest(f), 0
	}
	// Reading them once tells which of them are unusable.
	if _, err := f.Frames(dump.StateField); err != nil {
		return stepRange{}, s.Size
	}
	return stepRange{len(s.Steps), s.Steps[0], s.Steps[len(s.Steps)-1]}, s.Size
}

// longest returns the counts of the field with most frames.
func longest(f *dump.File) (r stepRange) {
	for _, spec := range f.Manifest().Fields {
		if s, err := f.Frames(spec.Name); err == nil && len(s.Counts) > r.Count {
			r = stepRange{len(s.Counts), s.Counts[0], s.Counts[len(s.Counts)-1]}
		}
	}
	return r
}

// inspectModel describes the model beside the dump, nil when there is none.
func inspectModel(f *dump.File) *modelInfo {
	m := f.Model()
	if m == nil {
		return nil
	}
	return &modelInfo{f.ModelPath(), m.Version, m.NQ, m.NV, m.NA}
}

// inspectField describes one field; a field that cannot be read has no frames.
func inspectField(f *dump.File, s dump.FieldSpec) fieldInfo {
	in := fieldInfo{
		Name: s.Name, Stage: s.Stage, Clock: s.Clock, DType: s.DType,
		PerEnv: s.PerEnv, Unit: s.Unit, Columns: list(f.Columns(s.Name)),
	}
	if v, err := f.Frames(s.Name); err == nil {
		in.Frames, in.Rows, in.Cols = v.Values.Shape[0], v.Values.Shape[1], v.Values.Shape[2]
	}
	return in
}

// inspectEvents returns the events with details that JSON can hold.
func inspectEvents(m *dump.Manifest) []dump.Event {
	events := append([]dump.Event{}, m.Events...)
	for i := range events {
		events[i].Detail = plain(events[i].Detail)
	}
	return events
}

// plain spells out the numbers that JSON lacks. What a manifest held was JSON
// once, so there is nothing else to go wrong; should there be, it is left out.
func plain(v any) any {
	p, err := dump.Plain(v)
	if err != nil {
		return nil
	}
	return p
}

// list makes the JSON of an empty slice [] instead of null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
