package dump

import "fmt"

// stateSource is what is known of the simulator's states before they are read.
type stateSource struct {
	rows int
	info StateInfo
}

// openStates describes the states_step_* entries as one field.
func (f *File) openStates(spec FieldSpec) {
	steps, warnings := f.arc.findSteps(statesPrefix)
	f.warn(warnings...)
	f.checkStateCount(len(steps.list))
	if len(steps.list) == 0 {
		return
	}
	size, _ := f.meta.count("state_size")
	f.arc.chooseShape(&steps, len(f.manifest.EnvIDs), int(min(size, maxCols)))
	if got := steps.shape.cols; size > 0 && got > 0 && int64(got) != size {
		f.warn(fmt.Errorf("metadata: state_size is %d, the entries %s* have %d columns", size, statesPrefix, got))
	}
	f.state = &stateSource{rows: steps.shape.rows, info: StateInfo{
		Size:       steps.shape.cols,
		BeforeStep: true,
		NonFinite:  f.meta.envIDsByField("non_finite_fields"),
	}}
	if n, ok := f.meta.count("state_spec"); ok && n < 1<<31 {
		f.state.info.Spec = int(n)
	}
	spec.DType = steps.shape.dtype.String()
	f.fields[StateField] = &source{spec: spec, rows: steps.shape.rows, load: func() (*Series, error) {
		return f.loadStates(&steps)
	}}
}

// checkStateCount holds the number of entries against the metadata.
func (f *File) checkStateCount(n int) {
	switch held, ok := f.meta.count("buffer_size"); {
	case n == 0:
		f.warn(fmt.Errorf("the file holds no simulator states: no entry %s*", statesPrefix))
	case ok && held != int64(n):
		f.warn(fmt.Errorf("metadata: buffer_size promises %d states, the file holds %d", held, n))
	}
}

// loadStates reads the frames of the simulator's state.
func (f *File) loadStates(steps *stepEntries) (*Series, error) {
	values, numbers, err := f.loadSteps(steps)
	if err != nil {
		return nil, err
	}
	f.state.info.Steps = numbers
	s := f.stepSeries(values, numbers)
	if f.format == formatNanguard {
		s.Ticks = stateTicks(numbers, f.substepTicks())
	}
	return s, nil
}
