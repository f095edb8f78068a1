package archtest

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEveryPackageSaysWhatItIs wants one package comment per package, in a
// file of its own or in the package's only other place for it.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said := map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		said[s.pkg()] = said[s.pkg()] || s.ast.Doc != nil
	}
	for pkg, ok := range said {
		assert.True(t, ok, "package %s has no package comment", pkg)
	}
}

// TestExportedNamesAreExplained wants a comment that begins with the name.
func TestExportedNamesAreExplained(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.isGenerated() {
			continue
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) {
					explained(t, s, d.Name, d.Doc)
				}
			case *ast.GenDecl:
				explainedTypes(t, s, d)
			}
		}
	}
}

// explainedTypes checks the type declarations of d.
func explainedTypes(t *testing.T, s *source, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() {
			doc := ts.Doc
			if doc == nil {
				doc = d.Doc
			}
			explained(t, s, ts.Name, doc)
		}
	}
}

// explained checks one comment.
func explained(t *testing.T, s *source, name *ast.Ident, doc *ast.CommentGroup) {
	t.Helper()
	text := doc.Text()
	begins := strings.HasPrefix(text, name.Name+" ") || strings.HasPrefix(text, name.Name+"\n") ||
		strings.HasPrefix(text, "A "+name.Name+" ") || strings.HasPrefix(text, "An "+name.Name+" ")
	assert.True(t, begins, "%s: exported %s has no comment that begins with its name", s.path, name.Name)
}

// exportedReceiver reports whether d is a function, or a method of an exported
// type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if idx, ok := typ.(*ast.IndexExpr); ok {
		typ = idx.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}
