package dump

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/nanguard/nanguard/mjb"
)

// modelFile is the model beside the dump: found by Open, read when asked for.
type modelFile struct {
	dir, name string // "" when there is none
	text      bool   // MJCF, not a binary model
	refused   bool   // there is something of the name, and it was said why it is not read
}

// Model returns the MuJoCo model beside the dump, or nil; Warnings says why
// there is none. A model that does not fit the states is none.
func (f *File) Model() *mjb.Model {
	f.loadModel()
	return f.model
}

// ModelPath returns the path of the model beside the dump, MJCF included, or
// "" when there is none.
func (f *File) ModelPath() string {
	if f.folder.name == "" {
		return ""
	}
	return filepath.Join(f.folder.dir, f.folder.name)
}

// findModel looks for the model in the folder of the dump, and in that of the
// file itself where the dump's path is a link, and nowhere else.
func (f *File) findModel() {
	named := f.meta.str("model_file")
	if f.name == "" || named == "" && f.format != "unilab" {
		return
	}
	paths := []string{f.name}
	if target, err := filepath.EvalSymlinks(f.name); err == nil && target != filepath.Clean(f.name) {
		paths = append(paths, target)
	}
	found := slices.ContainsFunc(paths, func(p string) bool { return f.findModelBeside(p, named) })
	if !found && bareName(named) && !f.folder.refused {
		f.warn(fmt.Errorf("the model %s is not beside the dump: columns are named as far as the dump itself does", quote(named)))
	}
}

// findModelBeside looks for the model in the folder of a path of the dump.
func (f *File) findModelBeside(path, named string) bool {
	dir := filepath.Dir(path)
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.warn(fmt.Errorf("no model is looked for beside the dump: %w", pathReason(err)))
		return false
	}
	defer root.Close()
	stem := strings.TrimSuffix(filepath.Base(path), ".npz")
	is := func(name string) bool { return f.isModel(root, name, named) }
	if !slices.ContainsFunc(f.modelNames(stem, named), is) && !slices.ContainsFunc(onlyModel(root), is) {
		return false
	}
	f.folder.dir = dir
	return true
}

// isModel takes a name in the folder for the model's if it is a regular file.
func (f *File) isModel(root *os.Root, name, named string) bool {
	switch err := regularIn(root, name); {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		f.warn(fmt.Errorf("model %s beside the dump is not read: %w", quote(name), err))
		f.folder.refused = true
		return false
	}
	if name != named && f.format != "unilab" {
		f.warn(fmt.Errorf("the model %s that the dump names is not beside it; %s is taken for it", quote(named), quote(name)))
	}
	f.folder = modelFile{name: name, text: strings.EqualFold(filepath.Ext(name), ".xml")}
	return true
}

// modelNames lists the file names that the model may have, the likeliest first.
func (f *File) modelNames(stem, named string) []string {
	var names []string
	switch {
	case f.format == "unilab":
		// model_file is where the run had it; the dump has a copy.
		names = append(names, stem+"_model.xml", stem+"_model.mjb", filepath.Base(filepath.ToSlash(named)))
	case bareName(named):
		names = append(names, named)
	default:
		f.warn(fmt.Errorf("model_file %s is no bare file name: a model is not looked for outside the dump's folder", quote(named)))
	}
	if stamp := f.meta.str("timestamp"); stamp != "" {
		names = append(names, "model_"+stamp+".mjb")
	}
	return append(names, "model_latest.mjb", "model.mjb")
}

// bareName reports whether a name stays in its folder on every system.
func bareName(name string) bool {
	return filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, "/\\:\x00")
}

// onlyModel returns the name of the folder's binary model if there is just one.
func onlyModel(root *os.Root) []string {
	names, err := fs.Glob(root.FS(), "*.mjb")
	if err != nil || len(names) != 1 {
		return nil
	}
	return names
}

// regularIn reports whether a name in the folder is a regular file. Links that
// leave the folder are an error of root's.
func regularIn(root *os.Root, name string) error {
	if !bareName(name) {
		return fs.ErrNotExist
	}
	info, err := root.Stat(name)
	if err != nil {
		return pathReason(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is no regular file (%s)", info.Mode().Type())
	}
	return nil
}

// loadModel reads the model once and holds it against the states.
func (f *File) loadModel() {
	f.modelOnce.Do(func() {
		if f.folder.name == "" {
			return
		}
		m, err := f.readModel()
		if err != nil {
			f.warn(fmt.Errorf("%w; its names are not used", f.aboutModel(err)))
		}
		if m == nil {
			var layout *mjb.LayoutError
			if errors.As(err, &layout) && layout.Partial != nil {
				f.fitStates(layout.Partial)
			}
			return
		}
		f.warn(m.Warnings...)
		if f.fitStates(m) {
			f.model = m
		}
	})
}

// aboutModel makes an error name the model, if it does not yet.
func (f *File) aboutModel(err error) error {
	if strings.Contains(err.Error(), quote(f.folder.name)) {
		return err
	}
	return fmt.Errorf("model %s: %w", quote(f.folder.name), err)
}

// readModel opens and reads the model within its folder.
func (f *File) readModel() (*mjb.Model, error) {
	root, err := os.OpenRoot(f.folder.dir)
	if err != nil {
		return nil, pathReason(err)
	}
	defer root.Close()
	r, err := root.OpenFile(f.folder.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, pathReason(err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, pathReason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	if f.folder.text {
		return mjb.JointsFromMJCF(r)
	}
	return mjb.NewReader(r, info.Size(), f.folder.name)
}

// fitStates finds the parts of the state vector in terms of the model, and
// reports whether the model is that of the states.
func (f *File) fitStates(m *mjb.Model) bool {
	if f.state == nil {
		return true
	}
	spec, size := f.state.info.Spec, f.state.info.Size
	parts, err := m.PartsForSize(spec, size)
	if err != nil && spec != 0 {
		if other, err2 := m.PartsForSize(0, size); err2 == nil {
			f.warn(fmt.Errorf("model %s: %w; its physics state has that width and is taken", quote(f.folder.name), err))
			parts, err = other, nil
		}
	}
	if err != nil {
		f.warn(fmt.Errorf("model %s is not that of the states: %w; its names are not used", quote(f.folder.name), err))
		return false
	}
	f.parts, f.stateCols = parts, m.StateLabels(parts)
	return true
}
