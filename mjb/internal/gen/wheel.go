package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// unpack fetches the wheel of a version and returns the folder that holds its
// "mujoco" package: include/mujoco/*.h and libmujoco.so.
func unpack(cache, version string) (string, error) {
	project := "mujoco"
	if version >= "4" { // headers and library moved
		project = "mujoco-core"
	}
	dir := filepath.Join(cache, version)
	wheels := filepath.Join(dir, "*.whl")
	found, _ := filepath.Glob(wheels)
	if len(found) == 0 {
		cmd := exec.Command("pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
			"--python-version=3.11", "--platform=manylinux2014_x86_64", "--platform=manylinux_2_28_x86_64",
			"--dest", dir, project+"=="+version)
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("download: %w: %s", err, text)
		}
		found, _ = filepath.Glob(wheels)
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d wheels in %q, want one", len(found), dir)
	}
	return filepath.Join(dir, "mujoco"), extract(found[0], dir)
}

// extract unpacks the headers and the library of a wheel.
func extract(wheel, dir string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		header := strings.HasPrefix(f.Name, "mujoco/include/mujoco/m") && strings.HasSuffix(f.Name, ".h")
		library := strings.HasPrefix(f.Name, "mujoco/libmujoco.so")
		if !header && !library {
			continue
		}
		if err := extractFile(f, filepath.Join(dir, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	return nil
}

func extractFile(f *zip.File, name string) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	w, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		w.Close()
		return err
	}
	return w.Close()
}
