package rootcause

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestStdParamIsFoundOut: a logarithm is below zero in any healthy run, also where
// nobody declared that it is one; a raw std below zero is not.
func TestStdParamIsFoundOut(t *testing.T) {
	for _, c := range []struct {
		says, param string
		std, value  float64
		verdict     string
	}{
		{"a logarithm", "log", 0.5, math.Log(0.5), Clean},
		{"a softplus", "softplus", 0.5, math.Log(math.Exp(0.5) - 1), Clean},
		{"raw, as good as it is", "scalar", 0.5, 0.51, Clean},
		{"raw, below zero behind a clamp", "", 1e-6, -0.3, "policy-std"},
		{"declared as raw", "log", 0.5, math.Log(0.5), "policy-std"},
	} {
		r := newRun(60).all("policy.std", 0, c.std).all("param.std", 0, c.value)
		if c.says != "declared as raw" {
			delete(r.man.Facts, "policy.std_param")
		}
		got, d := r.judge()
		assert.Equal(t, c.param, got.stdFound, c.says)
		assert.Equal(t, c.verdict, d.Verdict, c.says)
	}
}
