package rootcause

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocs holds docs/causes.md to the catalogue and the features.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "causes.md"))
	require.NoError(t, err)
	for _, c := range catalogue {
		assert.Contains(t, string(b), "| `"+c.id+"` | "+c.title+" |")
	}
	for _, r := range rules {
		if r.id != "F13" && r.id != "F14" {
			assert.Contains(t, string(b), "| "+r.id+" |")
		}
		assert.NotEmpty(t, r.ask)
	}
}
