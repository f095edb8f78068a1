package dump

// stateTicks returns the ticks of state frames in a dump of our own: the row of
// states_step_N is the state after N substeps, which the check of substep N
// saw, just before the check of substep N+1.
func stateTicks(steps []int64, at map[int64]int64) []int64 {
	ticks := make([]int64, len(steps))
	known := make([]bool, len(steps))
	first := -1
	for i, n := range steps {
		if t, ok := at[n]; ok {
			ticks[i], known[i] = t, true
		} else if t, ok := at[n+1]; ok {
			ticks[i], known[i] = t-1, true
		}
		if known[i] && first < 0 {
			first = i
		}
	}
	if first < 0 {
		return append(ticks[:0], steps...)
	}
	for i := first - 1; i >= 0; i-- {
		ticks[i] = ticks[i+1] - (steps[i+1] - steps[i])
	}
	for i := first + 1; i < len(steps); i++ {
		if !known[i] {
			ticks[i] = ticks[i-1] + 1
		}
		ticks[i] = max(ticks[i], ticks[i-1])
	}
	return ticks
}

// substepTicks returns the tick of the last check of every substep that is on
// record: of qpos, else of qvel, else of any field of that clock.
func (f *File) substepTicks() map[int64]int64 {
	names := []string{"qpos", "qvel"}
	for _, s := range f.manifest.Fields {
		if s.Clock == ClockSubstep {
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		at := map[int64]int64{}
		for _, entry := range []string{"trace." + name, "field." + name} {
			ticks, counts, err := f.arc.clocks(entry)
			if err != nil {
				continue
			}
			for i, n := range counts {
				if old, ok := at[n]; !ok || ticks[i] > old {
					at[n] = ticks[i]
				}
			}
		}
		if len(at) > 0 {
			return at
		}
	}
	return nil
}
