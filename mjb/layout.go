package mjb

import "fmt"

//go:generate go run ./internal/gen -out layouts_gen.go

// version is 10000 * major + 100 * minor + patch of a MuJoCo version.
type version int

// String returns the version as MuJoCo writes it.
func (v version) String() string {
	return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
}

// release says how a version's file begins.
type release struct {
	version        version
	n32, n64       int // size fields of four and of eight bytes
	arrays         int
	opt, vis, stat int64 // bytes of the three structs behind the sizes
	flags          int64 // bytes of flags behind the structs
}

// newest is the last version that the tables know.
var newest = releases[len(releases)-1].version

// sizeField names a size; it stands in files of the versions from to to.
type sizeField struct {
	name     string
	from, to version // to 0: and on
}

// arrayField is an array of rows x cols x (size named by) elements.
type arrayField struct {
	name     string
	elem     elem
	rows     string
	cols     int64
	by       string // "" for none
	from, to version
}

// optionField is the offset of a member of mjOption.
type optionField struct {
	name     string
	offset   int64
	from, to version
}

// elem is the type of an array's elements.
type elem uint8

const (
	u8 elem = iota
	i32
	i64
	f32
	num // mjtNum, eight bytes
)

// bytes returns the size of an element.
func (e elem) bytes() int64 { return [...]int64{1, 4, 8, 4, 8}[e] }

// holds reports whether a row of a table that spans from to to counts for v.
// Versions later than the tables are read as the newest.
func holds(v, from, to version) bool {
	return from <= v && (to == 0 || v <= to)
}

// span is where an array lies in a file.
type span struct {
	name   string
	elem   elem
	offset int64
	n      int64 // elements
}

// layout is where everything lies in one file.
type layout struct {
	release *release
	sizes   map[string]int64
	opt     int64
	spans   []span
	end     int64 // size of the file
}

// newLayout lays out a file of release r whose size fields hold sizes. No part
// may reach past limit, the file's size: counts that ask for more are an error
// that says by how much, in *sizeError.
func newLayout(r *release, sizes []int64, limit int64) (*layout, error) {
	l := &layout{release: r, sizes: make(map[string]int64, len(sizes)), spans: make([]span, 0, r.arrays)}
	i := 0
	for _, f := range sizeFields {
		if holds(r.version, f.from, f.to) {
			l.sizes[f.name] = sizes[i]
			i++
		}
	}
	l.opt = headerBytes + int64(4*r.n32+8*r.n64)
	l.end = l.opt + r.opt + r.vis + r.stat + r.flags
	for i := range arrayFields {
		f := &arrayFields[i]
		if !holds(r.version, f.from, f.to) {
			continue
		}
		if err := l.append(f, limit); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// append lays an array behind the others.
func (l *layout) append(f *arrayField, limit int64) error {
	n := f.cols
	for _, by := range [...]string{f.rows, f.by} {
		if by == "" {
			continue
		}
		k := l.sizes[by]
		if k < 0 {
			return fmt.Errorf("negative size %s: %d", by, k)
		}
		if n > 0 && k > limit/n {
			return fmt.Errorf("array %s: size %s is %d, more than a file of %d bytes can hold", f.name, by, k, limit)
		}
		n *= k
	}
	bytes := n * f.elem.bytes()
	if bytes > limit-l.end {
		return fmt.Errorf("array %s: %d bytes at offset %d, but the file has %d", f.name, bytes, l.end, limit)
	}
	l.spans = append(l.spans, span{f.name, f.elem, l.end, n})
	l.end += bytes
	return nil
}

// find returns where an array lies; n is 0 for one that this version lacks.
func (l *layout) find(name string) span {
	for i := range l.spans {
		if l.spans[i].name == name {
			return l.spans[i]
		}
	}
	return span{name: name}
}
