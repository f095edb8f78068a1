package archtest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// allowed says which packages of ours each package may import. A folder ending
// in / stands for everything below it. A package that is not listed here is a
// mistake: say first what it may know.
var allowed = map[string][]string{
	"tensor":                 {},
	"mjb/internal/gen":       {},
	"internal/cuda/cudatest": {"internal/cuda"},
	"internal/cuda":          {},
	"detect/scan/gpu":        {"tensor", "internal/cuda", "detect/scan", "detect/scan/kernel"},
	"detect/scan/kernel":     {},
	"mjb":                    {},
	"dump":                   {"tensor", "mjb", "internal/safetext", "internal/version"},
	"detect":                 {"tensor", "dump", "detect/scan", "detect/scan/gpu", "internal/cuda"},
	"detect/scan":            {"tensor"},
	"rootcause":              {"tensor", "dump", "mjb"},
	"fixtures":               {"dump", "tensor", "detect", "fixtures/sim", "fixtures/task", "fixtures/learner", "fixtures/chain", "fixtures/sac"},
	"fixtures/":              {"dump", "tensor", "fixtures/"},
	"bench/":                 {"dump", "tensor", "detect", "detect/scan", "rootcause", "fixtures", "fixtures/", "internal/version"},
	"fixtures/sim":           {},
	"fixtures/task":          {"dump", "fixtures/sim"},
	"fixtures/learner":       {},
	"fixtures/chain":         {},
	"fixtures/sac":           {},
	"fixtures/captured":      {"dump", "fixtures"},
	"fixtures/score":         {"dump", "rootcause", "fixtures"},
	"cabi":                   {"tensor", "dump", "detect", "detect/scan", "internal/version"},
	"internal/safetext":      {},
	"internal/version":       {},
	"internal/cli":           {"internal/safetext", "internal/version"},
	"internal/report":        {"rootcause", "internal/safetext"},
	"internal/forensics":     {"dump", "rootcause", "internal/cli", "internal/report"},
	"internal/measure":       {"tensor", "detect/scan", "internal/cuda", "internal/version"},
	"internal/archtest":      {},
	"cmd/nanguard":           {"tensor", "detect", "detect/scan/gpu", "internal/cuda", "internal/measure", "dump", "rootcause", "fixtures", "fixtures/", "internal/cli", "internal/forensics", "internal/safetext", "internal/version"},
	"cmd/viznan":             {"dump", "rootcause", "cmd/viznan/internal/", "internal/cli", "internal/forensics", "internal/safetext"},
	"cmd/viznan/internal/":   {"tensor", "dump", "mjb", "rootcause", "cmd/viznan/internal/", "internal/report", "internal/safetext"},
	"tools/":                 {},
}

// purego lets a binary load libraries at run time, and makes it link libc:
// only the package that talks to the CUDA driver may have it, and never viznan.
const purego = "github.com/ebitengine/purego"

func TestImportsGoOneWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		may, ok := rule(s.pkg())
		if !assert.True(t, ok, "%s: package %s has no line in the table of allowed imports", s.path, s.pkg()) {
			continue
		}
		for _, imp := range s.ast.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if path == purego {
				assert.Equal(t, "internal/cuda", s.pkg(), "%s imports purego", s.path)
			}
			if path == "C" {
				assert.Equal(t, "cabi", s.pkg(), "%s imports C", s.path)
			}
			ours, found := strings.CutPrefix(path, module+"/")
			if found && ours != s.pkg() {
				assert.True(t, matches(may, ours), "%s: %s may not import %s", s.path, s.pkg(), ours)
			}
		}
	}
}

// rule returns what a package may import.
func rule(pkg string) ([]string, bool) {
	if may, ok := allowed[pkg]; ok {
		return may, true
	}
	for folder, may := range allowed {
		if strings.HasSuffix(folder, "/") && strings.HasPrefix(pkg, folder) {
			return may, true
		}
	}
	return nil, false
}

// matches reports whether a package is one of those listed, or below a folder
// that is.
func matches(may []string, pkg string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		return m == pkg || strings.HasSuffix(m, "/") && strings.HasPrefix(pkg, m)
	})
}
