package dump

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nanguard/nanguard/tensor"
)

const (
	unilabStates = "states"
	unilabMeta   = "meta_"
)

// openUniLab opens a dump of UniLab: all states in one array, one entry per
// metadata key, no pickle.
func (f *File) openUniLab() error {
	if !f.arc.has(unilabStates) && !f.arc.has(unilabMeta+"detection_step") || f.arc.has(metadataEntry) {
		return errNotMine
	}
	f.format = "unilab"
	f.readUniLabMeta()
	f.manifest = f.foreignManifest(Producer{Name: "UniLab"})
	f.manifest.Clocks = map[Clock]int64{ClockStep: f.detectionStep()}
	if err := f.openUniLabStates(); err != nil {
		f.warn(err)
	}
	f.nameRows()
	f.checkCulprits()
	return nil
}

// readUniLabMeta reads the entries of metadata as if they were one dict.
func (f *File) readUniLabMeta() {
	f.meta = &Metadata{Values: map[string]any{}}
	for _, name := range f.arc.names {
		key, ok := strings.CutPrefix(name, unilabMeta)
		if !ok {
			continue
		}
		v, err := f.arc.value(name)
		if err != nil {
			f.warn(fmt.Errorf("entry %s: %w", quote(name), err))
			continue
		}
		f.meta.Keys = append(f.meta.Keys, key)
		f.meta.Values[key] = v
	}
}

// value reads a small entry as metadata shows it: a plain value, or a list of
// them.
func (a *archive) value(name string) (any, error) {
	var h arrayHeader
	var data []byte
	err := a.read(name, func(got arrayHeader) ([]byte, error) {
		h = got
		if h.elem.kind == 'O' || len(h.shape) > 1 {
			return nil, fmt.Errorf("holds %s; a number, a text or a list of them was expected", h)
		}
		// A value takes some 32 bytes as an interface.
		if err := a.budget.take(h.bytes() + 32*h.count); err != nil {
			return nil, err
		}
		data = make([]byte, h.bytes())
		return data, nil
	})
	if err != nil {
		return nil, err
	}
	h.elem.big = false // read made it so
	list := make([]any, h.count)
	for i := range list {
		list[i] = h.elem.value(data, i)
	}
	if len(h.shape) == 0 {
		return list[0], nil
	}
	return list, nil
}

// openUniLabStates describes the states, whose last step is the one at which
// the guard saw it. They are taken after the env's step, once per env step.
func (f *File) openUniLabStates() error {
	h, err := f.arc.header(unilabStates)
	if err != nil {
		return fmt.Errorf("entry %q: %w", unilabStates, err)
	}
	if h.count == 0 {
		return errors.New("the file holds no simulator states: the run could not play them back")
	}
	if len(h.shape) != 3 || h.elem.dtype() == tensor.Invalid {
		return fmt.Errorf("entry %q: holds %s; steps, envs and columns were expected", unilabStates, h)
	}
	if h.shape[0] > maxFrames || h.shape[1] > maxRows || h.shape[2] > maxCols {
		return fmt.Errorf("entry %q: holds %s: more than %d steps, %d envs or %d columns", unilabStates, h, maxFrames, maxRows, maxCols)
	}
	last := f.detectionStep()
	if last < int64(h.shape[0])-1 {
		f.warn(fmt.Errorf("entry %q: holds %d steps, the guard stopped at step %d; they are numbered from 0", unilabStates, h.shape[0], last))
		last = int64(h.shape[0]) - 1
	}
	f.state = &stateSource{rows: h.shape[1], info: StateInfo{Size: h.shape[2]}}
	spec := FieldSpec{
		Name: StateField, Stage: StagePhysics, Clock: ClockStep, PerEnv: true,
		DType: h.elem.dtype().String(),
	}
	f.fields[StateField] = &source{spec: spec, rows: h.shape[1], load: func() (*Series, error) {
		values, err := f.arc.array(unilabStates)
		if err != nil {
			return nil, &FormatError{f.name, unilabStates, err}
		}
		steps := make([]int64, values.Shape[0])
		for i := range steps {
			steps[i] = last - int64(len(steps)-1-i)
		}
		f.state.info.Steps = steps
		return f.stepSeries(values, steps), nil
	}}
	return nil
}
