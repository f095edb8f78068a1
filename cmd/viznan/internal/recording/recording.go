package recording

import (
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/nanguard/nanguard/cmd/viznan/internal/cell"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/rootcause"
)

// Recording is one dump laid out for replay.
type Recording struct {
	Path     string // as the dump was opened
	Name     string // the file's name
	Producer string // who wrote it, and in which format
	NumEnvs  int    // envs of the run, 0 when the file does not say
	Envs     []Env  // culprits first, before all those that are not in the file
	Unlisted Unlisted
	Fields   []*Field
	Marks    []Mark // in tick order
	// BeforeStep is true when a state is the one before the step of its number,
	// so that the step that failed is not shown.
	BeforeStep bool
	Diagnosis  *rootcause.Diagnosis

	src      Source
	manifest *dump.Manifest
	ticks    []int64 // of every frame of every field, ascending
}

// Open lays out what the manifest tells; no array is read.
func Open(src Source) *Recording {
	m := src.Manifest()
	r := &Recording{
		Path: src.Name(), Name: cell.Clean(filepath.Base(src.Name())),
		Producer: producer(m.Producer, src.Format()), NumEnvs: m.NumEnvs, src: src, manifest: m,
	}
	states := src.States()
	r.BeforeStep = states != nil && states.BeforeStep
	r.envs(states)
	for _, s := range specs(src) {
		r.Fields = append(r.Fields, newField(s))
	}
	r.mark()
	return r
}

// producer names the writer of a dump and its format.
func producer(p dump.Producer, format string) string {
	name := strings.TrimSpace(p.Name + " " + p.Version)
	if name == "" || name == format {
		return cell.Clean(format)
	}
	return cell.Clean(name + " (" + format + ")")
}

// specs returns the fields in the order of the loop, the state vector among
// them.
func specs(src Source) []dump.FieldSpec {
	list := slices.Clone(src.Manifest().Fields)
	isState := func(s dump.FieldSpec) bool { return s.Name == dump.StateField }
	if s, ok := src.Field(dump.StateField); ok && !slices.ContainsFunc(list, isState) {
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b dump.FieldSpec) int {
		switch {
		case a.Order < b.Order:
			return -1
		case a.Order > b.Order:
			return 1
		}
		return 0
	})
	return list
}

// Diagnose takes the diagnosis in: its texts are made harmless and its
// precursors become marks. Where nothing is wrong no env is a culprit, whatever
// the file says of it.
func (r *Recording) Diagnose(d *rootcause.Diagnosis) {
	r.Diagnosis = clean(d)
	for i := range r.Envs {
		if e := &r.Envs[i]; r.Diagnosis.Verdict == rootcause.Clean && e.Role == dump.RoleCulprit {
			e.Role = dump.RoleControl
		}
	}
	r.mark()
}

// Warnings returns what is doubtful about the file and its diagnosis.
func (r *Recording) Warnings() []string {
	var list []string
	add := func(s string) {
		if s = cell.Clean(s); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, err := range r.src.Warnings() {
		add(err.Error())
	}
	if r.Diagnosis != nil {
		for _, w := range r.Diagnosis.Warnings {
			add(w)
		}
	}
	return list
}

// Span returns the first and the last tick of all frames. ok is false while
// no frame is loaded.
func (r *Recording) Span() (first, last int64, ok bool) {
	if len(r.ticks) == 0 {
		return 0, 0, false
	}
	return r.ticks[0], r.ticks[len(r.ticks)-1], true
}

// Step returns the tick n frames of any field after tick, or before it when n
// is negative, held at the ends.
func (r *Recording) Step(tick int64, n int) int64 { return step(r.ticks, tick, n) }

// step moves n places along ascending ticks, from the last one that is not
// after tick. Frames of one tick are one place.
func step(ticks []int64, tick int64, n int) int64 {
	for ; n > 0; n-- {
		i := sort.Search(len(ticks), func(i int) bool { return ticks[i] > tick })
		if i == len(ticks) {
			break
		}
		tick = ticks[i]
	}
	for ; n < 0; n++ {
		i, _ := slices.BinarySearch(ticks, tick)
		if i == 0 {
			break
		}
		tick = ticks[i-1]
	}
	return tick
}

// Field returns the index of the field with the given raw name, or -1.
func (r *Recording) Field(name string) int {
	return slices.IndexFunc(r.Fields, func(f *Field) bool { return f.Spec.Name == name })
}

// Env returns the index of the env with the given number, or -1.
func (r *Recording) Env(id int) int {
	return slices.IndexFunc(r.Envs, func(e Env) bool { return e.ID == id })
}
