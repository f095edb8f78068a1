//go:build cgo

package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nanguard/nanguard/detect"
)

func TestFactsKeepTheirType(t *testing.T) {
	for text, want := range map[string]any{
		"3": int64(3), "-0.5": -0.5, "1e3": 1e3, "true": true, `"log"`: "log", "9007199254740993": int64(9007199254740993),
		"-Infinity": math.Inf(-1), "Infinity": math.Inf(1), " 7 ": int64(7),
	} {
		v, err := factOf(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, v, text)
	}
	nan, err := factOf("NaN")
	require.NoError(t, err)
	assert.True(t, math.IsNaN(nan.(float64)))
	for _, text := range []string{"", "nan", "{", "1 2", "'a'", "1e999"} {
		_, err := factOf(text)
		assert.Error(t, err, text)
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	for size, want := range map[int]string{1: "", 2: "a", 3: "a", 4: "aé", 5: "aéb", 9: "aéb"} {
		b := make([]byte, size)
		fill(b, "aéb")
		assert.Equal(t, want, string(b[:len(want)]), "%d bytes", size)
		assert.Zero(t, b[len(want)], "%d bytes", size)
	}
	fill(nil, "nothing to write to")
}

func TestHandlesCountUp(t *testing.T) {
	g, err := detect.New(detect.Config{NumEnvs: 1})
	require.NoError(t, err)
	a := add(&handle{guard: g})
	h, err := lookUp("test", a)
	require.NoError(t, err)
	assert.Same(t, g, h.guard)
	gone, err := remove(a)
	require.NoError(t, err)
	assert.Same(t, h, gone)
	_, err = lookUp("test", a)
	assert.ErrorIs(t, err, errNoGuard)
	b := add(h)
	assert.Greater(t, b, a)
	_, err = remove(b)
	require.NoError(t, err)
	again, err := remove(a)
	require.NoError(t, err, "closing twice is no error")
	assert.Nil(t, again)
}
