package cudatest

import (
	"errors"
	"os"
	"testing"

	"github.com/nanguard/nanguard/internal/cuda"
)

// Variable names the environment variable that says whether a GPU is expected.
const Variable = "NANGUARD_TEST_GPU"

// GPU returns the driver of this machine. Without a usable one the test is
// skipped or fails, as the environment says.
func GPU(t testing.TB) *cuda.Driver {
	t.Helper()
	mode := os.Getenv(Variable)
	if mode == "off" {
		t.Skip(Variable + "=off")
	}
	d, err := cuda.Open()
	if err == nil {
		_, err = d.Device(0)
	}
	switch {
	case err == nil:
		return d
	case !errors.Is(err, cuda.ErrUnsupported):
		t.Fatalf("the driver is there, but: %v", err)
	case mode == "required":
		t.Fatalf("%s=required, but: %v", Variable, err)
	}
	t.Skip(err)
	return nil
}

// Each runs a test on the host's fake driver and on the real one.
func Each(t *testing.T, test func(t *testing.T, d *cuda.Driver)) {
	t.Run("host", func(t *testing.T) { test(t, Host(t)) })
	t.Run("gpu", func(t *testing.T) { test(t, GPU(t)) })
}
