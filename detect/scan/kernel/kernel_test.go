package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPTXIsOfThisSource says that generate.py was run after the last change of
// scan.cu. CI also compiles and compares all of it.
func TestPTXIsOfThisSource(t *testing.T) {
	source, err := os.ReadFile("scan.cu")
	if os.IsNotExist(err) {
		t.Skip("scan.cu is not here: ", err)
	}
	require.NoError(t, err)
	sum := sha256.Sum256(source)
	first, _, _ := strings.Cut(PTX, "\n")
	assert.Equal(t, "// scan.cu sha256 "+hex.EncodeToString(sum[:]), first, "run generate.py")
}

// The oldest driver and GPU that the documentation promises are those that the
// PTX asks for.
func TestPTXIsOldEnough(t *testing.T) {
	assert.Contains(t, PTX, "\n.version 8.0\n")
	assert.Contains(t, PTX, "\n.target sm_70\n")
	for _, name := range []string{Check, Flush, Control} {
		assert.Contains(t, PTX, ".entry "+name+"(")
	}
}
