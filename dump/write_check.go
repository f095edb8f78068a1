package dump

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/nanguard/nanguard/tensor"
)

// check reports the first thing in d that the format does not allow.
func (d *Draft) check() error {
	return errors.Join(
		d.checkEnvs(),
		d.checkSpecs(),
		d.checkFields(),
		d.checkStates(),
		d.checkDocuments(),
	)
}

var timestampForm = regexp.MustCompile(`^\d{8}_\d{6}$`)

// checkDocuments looks at what goes into the two documents.
func (d *Draft) checkDocuments() error {
	m := &d.Manifest
	if !timestampForm.MatchString(d.Meta.Timestamp) {
		return fmt.Errorf("timestamp %q, want YYYYMMDD_HHMMSS", d.Meta.Timestamp)
	}
	if t := m.Trip; t != nil {
		if err := d.checkFinding("trip", t.Field, t.Env, t.Class); err != nil {
			return err
		}
	}
	for i, b := range m.FirstBad {
		if err := d.checkFinding(fmt.Sprintf("first_bad %d", i), b.Field, b.Env, b.Class); err != nil {
			return err
		}
	}
	for name, v := range m.Facts {
		if err := CheckFact(name, v); err != nil {
			return err
		}
	}
	return nil
}

// checkFinding looks at a trip or a first_bad entry.
func (d *Draft) checkFinding(what, field string, env *int, class string) error {
	spec := d.spec(field)
	if spec == nil {
		return fmt.Errorf("%s: field %q is not in the manifest", what, field)
	}
	if c, err := tensor.ParseClass(class); err != nil || c == tensor.Finite {
		return fmt.Errorf("%s: class %q, want nan, posinf or neginf", what, class)
	}
	if spec.PerEnv != (env != nil) {
		return fmt.Errorf("%s: field %q: an env is given exactly for fields that are per env", what, field)
	}
	return nil
}

// checkEnvs looks at the rows of the file.
func (d *Draft) checkEnvs() error {
	m := &d.Manifest
	if len(m.EnvRoles) != len(m.EnvIDs) {
		return fmt.Errorf("env_roles: %d roles for %d env_ids", len(m.EnvRoles), len(m.EnvIDs))
	}
	seen := map[int]bool{}
	for _, id := range m.EnvIDs {
		if id < 0 || id >= m.NumEnvs || seen[id] {
			return fmt.Errorf("env_ids: env %d is out of 0..%d or there twice", id, m.NumEnvs-1)
		}
		seen[id] = true
	}
	for i, id := range d.Meta.BadEnvIDs {
		if id < 0 || id >= m.NumEnvs || i > 0 && id <= d.Meta.BadEnvIDs[i-1] {
			return fmt.Errorf("bad env ids: env %d is out of 0..%d or out of order", id, m.NumEnvs-1)
		}
	}
	return nil
}

// checkSpecs looks at the descriptions of the fields: two of them must never
// claim the same entry, as "a" and "a.tick" would.
func (d *Draft) checkSpecs() error {
	owner := map[string]string{}
	for _, f := range d.Manifest.Fields {
		if err := CheckName(f.Name); err != nil {
			return err
		}
		if math.IsNaN(f.Order) || math.IsInf(f.Order, 0) {
			return fmt.Errorf("field %q: order %v is not finite", f.Name, f.Order)
		}
		for _, part := range []string{"", ".tick", ".count"} {
			if other, taken := owner[f.Name+part]; taken {
				return fmt.Errorf("field %q: entry %q belongs to field %q", f.Name, "field."+f.Name+part, other)
			}
			owner[f.Name+part] = f.Name
		}
	}
	return nil
}

// spec returns the description of a field, or nil.
func (d *Draft) spec(name string) *FieldSpec {
	for i := range d.Manifest.Fields {
		if d.Manifest.Fields[i].Name == name {
			return &d.Manifest.Fields[i]
		}
	}
	return nil
}

// checkFields looks at frames and traces.
func (d *Draft) checkFields() error {
	seen := map[string]bool{}
	for _, f := range d.Fields {
		spec := d.spec(f.Name)
		if spec == nil || seen[f.Name] {
			return fmt.Errorf("field %q: not in the manifest, or drafted twice", f.Name)
		}
		seen[f.Name] = true
		if err := d.checkFrames(spec, f.Frames); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		if err := checkTrace(f.Trace); err != nil {
			return fmt.Errorf("field %q: trace: %w", f.Name, err)
		}
	}
	return nil
}

func (d *Draft) checkFrames(spec *FieldSpec, s *Series) error {
	if s == nil {
		return nil
	}
	rows := 1
	if spec.PerEnv {
		rows = len(d.Manifest.EnvIDs)
	}
	v := s.Values
	if err := checkCube(v, len(s.Ticks), rows); err != nil {
		return fmt.Errorf("frames: %w", err)
	}
	if v.DType.String() != spec.DType {
		return fmt.Errorf("frames of %v, the manifest says %s", v.DType, spec.DType)
	}
	if n := len(spec.Cols); n != 0 && n != v.Shape[2] {
		return fmt.Errorf("%d labels for %d columns", n, v.Shape[2])
	}
	return checkClock(s.Ticks, s.Counts)
}

// checkCube looks at the shape of frames.
func checkCube(v tensor.Array, frames, rows int) error {
	if len(v.Shape) != 3 || v.Shape[0] != frames || v.Shape[1] != rows || v.Shape[2] < 0 {
		return fmt.Errorf("shape %v, want %d frames x %d rows x columns", v.Shape, frames, rows)
	}
	if want := v.Len() * v.DType.Size(); len(v.Data) != want || v.DType == tensor.Invalid {
		return fmt.Errorf("%d bytes of %v for shape %v, want %d", len(v.Data), v.DType, v.Shape, want)
	}
	return nil
}

// checkClock looks at ticks and counts.
func checkClock(ticks, counts []int64) error {
	if len(ticks) != len(counts) {
		return fmt.Errorf("%d ticks and %d counts", len(ticks), len(counts))
	}
	return checkAscending("tick", ticks)
}

func checkAscending(what string, s []int64) error {
	for i := 1; i < len(s); i++ {
		if s[i] <= s[i-1] {
			return fmt.Errorf("%s %d stands after %d, want ascending", what, s[i], s[i-1])
		}
	}
	return nil
}

func checkTrace(t *Trace) error {
	if t == nil {
		return nil
	}
	for i, c := range t.columns() {
		if len(c) != len(t.Ticks) {
			return fmt.Errorf("column %d has %d entries, want %d", i, len(c), len(t.Ticks))
		}
	}
	return checkClock(t.Ticks, t.Counts)
}

func (d *Draft) checkStates() error {
	s := d.States
	if s == nil {
		return nil
	}
	if s.Values.DType != tensor.Float64 {
		return fmt.Errorf("states of %v, want float64", s.Values.DType)
	}
	if err := checkCube(s.Values, len(s.Steps), len(d.Manifest.EnvIDs)); err != nil {
		return fmt.Errorf("states: %w", err)
	}
	if slices.ContainsFunc(s.Steps, func(n int64) bool { return n < 0 }) {
		return errors.New("states: negative step number")
	}
	if err := checkAscending("step", s.Steps); err != nil {
		return fmt.Errorf("states: %w", err)
	}
	return nil
}
