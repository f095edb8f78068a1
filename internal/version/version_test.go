package version

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	other := &debug.Module{Path: "example.org/robot", Version: "v2.0.0"}
	assert.Equal(t, "v1.2.3", of([]*debug.Module{other, {Path: module, Version: "v1.2.3"}}))
	assert.Equal(t, "devel", of([]*debug.Module{other, {Path: module, Version: "(devel)"}}))
	assert.Equal(t, "devel", of(nil))
}

func TestString(t *testing.T) {
	assert.NotEmpty(t, String())
	stamp = "v9"
	defer func() { stamp = "" }()
	assert.Equal(t, "v9", String())
}
