package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{0, "0 %"},
		{0.0001, "<1 %"},
		{0.00999, "<1 %"},
		{0.01, "1 %"},
		{0.5, "50 %"},
		{0.99, "99 %"},
		{0.995, ">99 %"},
		{1, "100 %"},
	} {
		assert.Equal(t, c.want, Percent(c.share))
	}
}

func TestClassName(t *testing.T) {
	for class, want := range map[string]string{
		"nan": "NaN", "posinf": "+Inf", "neginf": "-Inf", "huge": "huge", "growing": "growing", "": "",
	} {
		assert.Equal(t, want, ClassName(class))
	}
}
