package mjb

import "fmt"

// identified is the layout of a file and what it tells of the version.
type identified struct {
	*layout
	text    string  // for people: one version or a range
	version version // for the tables of state bits
	warning error   // nil when nothing was assumed
}

// identify finds the layout of a file of the given size. A layout counts only
// when the sizes in the header and the size of the file agree with it to the
// byte. The error is the reason for people.
func (h *header) identify(size int64) (*identified, error) {
	var fits []*layout
	var misfit error
	for i := range releases {
		r := &releases[i]
		if !h.mayBe(r) {
			continue
		}
		l, err := newLayout(r, h.sizes, size)
		if err == nil && l.end != size {
			err = fmt.Errorf("the file has %d bytes, its sizes make %d", size, l.end)
		}
		if err != nil {
			misfit = fmt.Errorf("%w (as %s writes it)", err, r.version)
			continue
		}
		fits = append(fits, l)
	}
	switch {
	case len(fits) > 0:
		return h.choose(fits), nil
	case misfit == nil:
		return nil, fmt.Errorf("%d+%d sizes and %d arrays, as in no known version (%s to %s)",
			h.n32, h.n64, h.arrays, releases[0].version, newest)
	case h.version != 0 && !known(h.version):
		return nil, fmt.Errorf("not a known version (%s to %s), nor laid out as one: %w", releases[0].version, newest, misfit)
	}
	return nil, fmt.Errorf("truncated, damaged, or of a build between releases: %w", misfit)
}

// mayBe reports whether a header of release r has the same counts. A version
// that the tables know must be that release; one that they do not know may be
// laid out as any that names itself.
func (h *header) mayBe(r *release) bool {
	if h.n32 != r.n32 || h.n64 != r.n64 || h.arrays != r.arrays {
		return false
	}
	return h.version == 0 || h.version == r.version || !known(h.version)
}

func known(v version) bool {
	for i := range releases {
		if releases[i].version == v {
			return true
		}
	}
	return false
}

// choose names the version when one or several layouts fit. Those that fit one
// file are neighbours and differ in nothing that is read here.
func (h *header) choose(fits []*layout) *identified {
	l := fits[len(fits)-1]
	first, last := fits[0].release.version, l.release.version
	id := &identified{layout: l, text: last.String(), version: last}
	switch {
	case h.version != 0 && h.version != last:
		id.text, id.version = h.version.String(), h.version
		id.warning = fmt.Errorf("MuJoCo %s is not a known version: the model is read as one of %s, which fits to the byte", h.version, last)
	case first != last:
		id.text = fmt.Sprintf("%s-%s", first, last)
	}
	return id
}

// partial returns the sizes that stand at the same place in every version, nil
// when they are not believable.
func (h *header) partial() *Model {
	na := 3
	if h.version >= 31100 { // nactuator and nout came before na
		na = 5
	}
	if len(h.sizes) <= na {
		return nil
	}
	m := &Model{Version: h.text(), version: h.version}
	if h.version == 0 {
		m.version = 30400 // the last that does not name itself
	}
	for i, to := range map[int]*int{0: &m.NQ, 1: &m.NV, 2: &m.NU, na: &m.NA} {
		if h.sizes[i] < 0 || h.sizes[i] > maxColumns {
			return nil
		}
		*to = int(h.sizes[i])
	}
	if m.NV > m.NQ {
		return nil
	}
	return m
}
