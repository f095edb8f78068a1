package dump

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/mjb"
)

// States returns where the rows of StateField come from, or nil when the file
// holds no simulator states. It reads the frames, so that Steps are those that
// could be read.
func (f *File) States() *StateInfo {
	if f.state == nil {
		return nil
	}
	_, err := f.Frames(StateField)
	f.loadModel()
	f.mu.Lock()
	defer f.mu.Unlock()
	info := f.state.info
	if err != nil {
		info.Steps = nil
	}
	info.Parts = f.parts
	return &info
}

// Columns returns one label per column of a field: from the manifest, from the
// model beside the dump, or made from the index ("qpos[7]", "state[7]"). It is
// nil for a field without frames or labels.
func (f *File) Columns(field string) []string {
	spec, ok := f.Field(field)
	if !ok {
		return nil
	}
	width := f.width(field)
	if width == 0 {
		width = len(spec.Cols)
	}
	f.loadModel()
	f.mu.Lock()
	labels, ok := f.labels[field]
	f.mu.Unlock()
	if !ok && width > 0 {
		labels = f.columnLabels(spec, width)
		f.mu.Lock()
		f.labels[field] = labels
		f.mu.Unlock()
	}
	return slices.Clone(labels)
}

// width returns the number of columns of a field's frames, 0 without frames.
func (f *File) width(field string) int {
	s, err := f.Frames(field)
	if err != nil {
		return 0
	}
	return s.Values.Shape[2]
}

// columnLabels makes the labels of a field with the given width.
func (f *File) columnLabels(spec FieldSpec, width int) []string {
	switch {
	case spec.Name == StateField && len(f.stateCols) == width:
		return f.stateCols
	case spec.Name == StateField:
		return f.stateLabels(width)
	case len(spec.Cols) == width:
		return spec.Cols
	case f.model != nil:
		if labels := modelLabels(f.model, spec.Name, width); labels != nil {
			return labels
		}
	}
	if width == 1 {
		return []string{spec.Name}
	}
	return numberedFrom(spec.Name, 0, width)
}

// numberedFrom returns name[from] to name[to-1].
func numberedFrom(name string, from, to int) []string {
	labels := make([]string, 0, max(to-from, 0))
	for i := from; i < to; i++ {
		labels = append(labels, name+"["+strconv.Itoa(i)+"]")
	}
	return labels
}

// modelLabels returns what the model calls the columns of a field, or nil.
func modelLabels(m *mjb.Model, field string, width int) []string {
	var labels []string
	switch field {
	case "qpos":
		labels = m.QposLabels()
	case "qvel", "qacc", "qacc_warmstart":
		labels = m.DofLabels()
	case "ctrl":
		labels = m.CtrlLabels()
	case "act":
		labels = m.StateLabels([]mjb.Part{{Name: "act", To: m.NA}})
		for i := range labels {
			labels[i] = strings.TrimPrefix(labels[i], "act ")
		}
	case "mocap":
		labels = m.StateLabels([]mjb.Part{
			{Name: "mocap_pos", To: 3 * m.NMocap},
			{Name: "mocap_quat", From: 3 * m.NMocap, To: 7 * m.NMocap},
		})
	}
	if len(labels) != width {
		return nil
	}
	return labels
}

// stateLabels labels the state without a model: as far as the manifest's fields
// tell its parts, in the order in which MuJoCo packs them.
func (f *File) stateLabels(width int) []string {
	labels := make([]string, 0, width)
	for _, part := range []string{"qpos", "qvel", "act"} {
		n := f.width(part)
		if n == 0 {
			break
		}
		if len(labels)+n > width {
			return numberedFrom(StateField, 0, width)
		}
		if cols := f.fields[part].spec.Cols; len(cols) == n {
			for _, c := range cols {
				labels = append(labels, part+" "+c)
			}
			continue
		}
		labels = append(labels, numberedFrom(part, 0, n)...)
	}
	return append(labels, numberedFrom(StateField, len(labels), width)...)
}
