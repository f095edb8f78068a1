package dump

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nanguard/nanguard/internal/version"
)

// WriteFile writes d into the folder dir, which is made when it is missing, and
// returns the path. The name is the one that the format prescribes; a file that
// is there already is never overwritten, whichever process wrote it. The dump
// appears whole or not at all.
//
// A path together with an error means that the dump is written and something
// beside it is not: the copy of the model (the dump then names none, and says
// why in a warning event) or a "latest" link.
func WriteFile(dir string, d *Draft) (path string, err error) {
	path, err = writeFile(dir, d)
	if err != nil {
		err = fmt.Errorf("write dump into %q: %w", dir, err)
	}
	return path, err
}

func writeFile(dir string, d *Draft) (path string, err error) {
	if err := d.check(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	model, modelErr := placeModel(dir, d)
	doc := d.manifest()
	if modelErr != nil {
		doc.Events = append(doc.Events, Event{Tick: lastTick(d), Kind: EventWarning, Detail: modelErr.Error()})
	}
	p, err := newPacker(d, doc, model)
	if err != nil {
		return "", err
	}
	path, err = place(dir, d.names("nan_dump", ".npz"), p.writeTo)
	if err != nil {
		return "", err
	}
	err = relink(dir, "nan_dump_latest.npz", filepath.Base(path))
	syncDir(dir)
	return path, errors.Join(modelErr, err)
}

// manifest returns the document of the file: lists are never null, and what the
// writer knows is filled in.
func (d *Draft) manifest() Manifest {
	m := d.Manifest
	m.Format, m.Version = "nanguard-dump", 1
	if m.Producer == (Producer{}) {
		m.Producer = Producer{Name: "nanguard", Version: version.String()}
	}
	m.EnvIDs = append([]int{}, m.EnvIDs...)
	m.EnvRoles = append([]Role{}, m.EnvRoles...)
	m.Fields = append([]FieldSpec{}, m.Fields...)
	m.FirstBad = append([]FirstBad{}, m.FirstBad...)
	m.Events = append([]Event{}, m.Events...)
	if m.Clocks == nil {
		m.Clocks = map[Clock]int64{}
	}
	if m.Facts == nil {
		m.Facts = map[string]any{}
	}
	return m
}

// lastTick returns the newest tick that the draft holds.
func lastTick(d *Draft) int64 {
	var last int64
	for _, f := range d.Fields {
		if f.Frames != nil && len(f.Frames.Ticks) > 0 {
			last = max(last, f.Frames.Ticks[len(f.Frames.Ticks)-1])
		}
		if f.Trace != nil && len(f.Trace.Ticks) > 0 {
			last = max(last, f.Trace.Ticks[len(f.Trace.Ticks)-1])
		}
	}
	return last
}
