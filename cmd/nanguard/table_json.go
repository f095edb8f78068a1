package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/nanguard/nanguard/tensor"
)

// tableJSON is the JSON of the export command.
type tableJSON struct {
	Field   string   `json:"field"`
	Clock   string   `json:"clock"`
	Columns []string `json:"columns"`
	Ticks   []int64  `json:"ticks"`
	Counts  []int64  `json:"counts"`
	EnvIDs  []int    `json:"env_ids"`
	Values  values   `json:"values"`
}

// writeTableJSON writes the table as one JSON document.
func writeTableJSON(w io.Writer, t *table) error {
	return json.NewEncoder(w).Encode(tableJSON{
		Field: t.field, Clock: string(t.clock), Columns: list(t.columns),
		Ticks: t.pick(t.Ticks), Counts: t.pick(t.Counts), EnvIDs: t.envs(), Values: values{t.kept()},
	})
}

// values is an array as nested JSON lists; what JSON has no number for is a
// string.
type values struct{ tensor.Array }

// MarshalJSON returns the nested lists.
func (v values) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	v.write(&b, v.Array)
	return []byte(b.String()), nil
}

// write appends the lists of a, outermost first.
func (v values) write(b *strings.Builder, a tensor.Array) {
	b.WriteByte('[')
	for i := range a.Shape[0] {
		if i > 0 {
			b.WriteByte(',')
		}
		if len(a.Shape) > 1 {
			v.write(b, a.Frame(i))
			continue
		}
		s := number(a.Float64(i), a.DType)
		if a.Class(i) != tensor.Finite {
			s = strconv.Quote(s)
		}
		b.WriteString(s)
	}
	b.WriteByte(']')
}
