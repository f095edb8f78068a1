package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the import path of the project.
const module = "github.com/nanguard/nanguard"

// root is the project's folder as seen from this package.
const root = "../.."

// source is one parsed Go file.
type source struct {
	path string // slash-separated, from the project's folder
	fset *token.FileSet
	ast  *ast.File
}

// pkg returns the folder of the file, "." for the project's own.
func (s *source) pkg() string { return filepath.ToSlash(filepath.Dir(s.path)) }

// isTest reports whether the file belongs to a test.
func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// isGenerated reports whether a program wrote the file.
func (s *source) isGenerated() bool { return ast.IsGenerated(s.ast) }

// sources parses every Go file of the project.
func sources(t *testing.T) []*source {
	t.Helper()
	var all []*source
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		if e.IsDir() && name != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
			return filepath.SkipDir
		}
		if e.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		rel, err := filepath.Rel(root, name)
		require.NoError(t, err)
		all = append(all, &source{filepath.ToSlash(rel), fset, f})
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, all, "no Go files found: this test would pass on nothing")
	return all
}
