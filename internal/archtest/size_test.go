package archtest

import (
	"go/ast"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The limits of docs/style: what is longer does more than one thing.
const (
	maxFileLines = 600
	maxFuncLines = 80
	wantMedian   = 14 // lines of the median function
)

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	var lengths []int
	for _, s := range sources(t) {
		if s.isTest() || s.isGenerated() {
			continue
		}
		lines := s.fset.Position(s.ast.End()).Line
		assert.LessOrEqual(t, lines, maxFileLines, "%s has %d lines", s.path, lines)
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
			assert.LessOrEqual(t, n, maxFuncLines, "%s: %s has %d lines", s.path, f.Name.Name, n)
			lengths = append(lengths, n)
		}
	}
	slices.Sort(lengths)
	median := lengths[len(lengths)/2]
	assert.LessOrEqual(t, median, wantMedian, "the median function has %d lines", median)
	t.Logf("%d functions: median %d lines, 90 %% under %d", len(lengths), median, lengths[len(lengths)*9/10])
}
