package measure

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/internal/version"
)

// Machine is what the numbers of a measurement depend on.
type Machine struct {
	Nanguard string `json:"nanguard"`
	Date     string `json:"date"`
	OS       string `json:"os"`
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Scanner  string `json:"scanner"`          // what the host's scanner is made of here
	GPU      string `json:"gpu,omitempty"`    // "" when none is measured
	Driver   string `json:"driver,omitempty"` // of the GPU; "" when it does not tell
	CUDA     string `json:"cuda,omitempty"`   // the newest that the driver supports
}

// ThisMachine returns what is known of this one, but for its GPU.
func ThisMachine(now time.Time) Machine {
	m := Machine{
		Nanguard: version.String(), Date: now.Format(time.DateOnly), OS: runtime.GOOS + "/" + runtime.GOARCH,
		CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Scanner: scan.Means(),
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = cpuOf(bytes.NewReader(b), m.CPU)
	}
	return m
}

// cpuOf returns the name of the first CPU in the text of /proc/cpuinfo, unnamed
// when it has none.
func cpuOf(r io.Reader, unnamed string) string {
	found := map[string]string{}
	for s := bufio.NewScanner(r); s.Scan() && s.Text() != ""; {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok {
			found[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	name := found["model name"]
	if name == "" {
		return unnamed
	}
	if found["cpu family"] != "" { // the name alone may be no more than the maker's
		name += " (family " + found["cpu family"] + ", model " + found["model"] + ")"
	}
	return name
}

var driverVersion = regexp.MustCompile(`Kernel Module.*?\s(\d+(?:\.\d+)+)\s`)

// DriverVersion returns the version of the NVIDIA driver as its files on Linux
// tell it, such as "580.159.04", "" elsewhere.
func DriverVersion() string {
	b, _ := os.ReadFile("/proc/driver/nvidia/version")
	return driverOf(string(b))
}

// driverOf returns the version that the text of that file has.
func driverOf(text string) string {
	m := driverVersion.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}
