package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

//go:embed probe.c.txt
var probeC []byte

// facts are what one version says of itself.
type facts struct {
	version version
	n32     int // size fields of four bytes
	n64     int // and of eight
	sizes   []row
	arrays  []row
	options []row
	bits    []row
	opt     string // sizes of mjOption, mjVisual, mjStatistic and the flags
}

// version is 10000 * major + 100 * minor + patch.
type version int

// row is a line of a table: what it says, as Go source.
type row string

func parseVersion(s string) version {
	var a, b, c int
	fmt.Sscanf(s, "%d.%d.%d", &a, &b, &c)
	return version(10000*a + 100*b + c)
}

// probe asks one version.
func probe(cache, v string) (*facts, error) {
	dir, err := unpack(cache, v)
	if err != nil {
		return nil, err
	}
	text, err := compileAndRun(dir)
	if err != nil {
		return nil, err
	}
	f := &facts{version: parseVersion(v)}
	var physics int
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		w := strings.Fields(s.Text())
		switch w[0] {
		case "size":
			f.addSize(w[1], w[2])
		case "array":
			if err := f.addArray(w[1:]); err != nil {
				return nil, err
			}
		case "option":
			f.options = append(f.options, row(fmt.Sprintf("%q, %s", w[1], w[2])))
		case "physics":
			physics, _ = strconv.Atoi(w[1])
		case "structs":
			f.opt = strings.Join(w[1:], ", ")
		}
	}
	f.bits, err = stateBits(dir, physics)
	return f, err
}

func (f *facts) addSize(name, bytes string) {
	f.sizes = append(f.sizes, row(strconv.Quote(name)))
	if bytes == "4" {
		f.n32++
	} else {
		f.n64++
	}
}

// elements gives the Go table's word for a C type.
var elements = map[string]string{
	"mjtNum": "num", "float": "f32", "int": "i32", "mjtSize": "i64",
	"mjtByte": "u8", "mjtBool": "u8", "char": "u8",
}

var product = regexp.MustCompile(`^(n[a-z_]+)(?:\*(\d+))?$`)

// addArray takes name, type, bytes, rows, columns as written, columns as a number.
func (f *facts) addArray(w []string) error {
	elem, ok := elements[w[1]]
	if !ok {
		return fmt.Errorf("array %s has the unknown type %s", w[0], w[1])
	}
	cols, by := w[5], ""
	if m := product.FindStringSubmatch(w[4]); m != nil {
		cols, by = m[2], m[1]
		if cols == "" {
			cols = "1"
		}
	}
	f.arrays = append(f.arrays, row(fmt.Sprintf("%q, %s, %q, %s, %q", w[0], elem, w[3], cols, by)))
	return nil
}

// compileAndRun builds the probe against a version and returns what it prints.
func compileAndRun(dir string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "mjb-gen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	libs, _ := filepath.Glob(filepath.Join(dir, "libmujoco.so*"))
	if len(libs) != 1 {
		return nil, fmt.Errorf("%d libraries in %q, want one", len(libs), dir)
	}
	src, exe, xml := filepath.Join(tmp, "probe.c"), filepath.Join(tmp, "probe"), filepath.Join(tmp, "empty.xml")
	if err := os.WriteFile(src, probeC, 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(xml, []byte("<mujoco/>"), 0o644); err != nil {
		return nil, err
	}
	cc := exec.Command("cc", "-w", "-o", exe, src, "-I", filepath.Join(dir, "include"), libs[0], "-Wl,-rpath,"+dir)
	if text, err := cc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile: %w: %s", err, text)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(exe, xml)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run: %w: %s", err, stderr.Bytes())
	}
	return out, nil
}

var stateBit = regexp.MustCompile(`mjSTATE_(\w+)\s*=\s*1<<(\d+)`)

// stateBits reads the enum mjtState, which no macro lists.
func stateBits(dir string, physics int) ([]row, error) {
	headers, _ := filepath.Glob(filepath.Join(dir, "include", "mujoco", "*.h"))
	sort.Strings(headers)
	var rows []row
	for _, h := range headers {
		text, err := os.ReadFile(h)
		if err != nil {
			return nil, err
		}
		for _, m := range stateBit.FindAllStringSubmatch(string(text), -1) {
			bit, _ := strconv.Atoi(m[2])
			rows = append(rows, row(fmt.Sprintf("%q, %d, %t", strings.ToLower(m[1]), bit, physics>>bit&1 == 1)))
		}
	}
	if len(rows) < 13 {
		return nil, fmt.Errorf("%d state bits in the headers, want at least 13", len(rows))
	}
	return rows, nil
}
