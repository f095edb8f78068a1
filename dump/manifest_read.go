package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// The most members of each list in a manifest that are kept.
const (
	maxFields = 4096
	maxEvents = 100_000
	maxFacts  = 100_000
)

// decodeManifest decodes the JSON of a manifest. What is wrong with one member
// is a warning, and the rest is used; what is wrong with the whole is an error.
func decodeManifest(text []byte) (*Manifest, []error, error) {
	if !utf8.Valid(text) {
		return nil, nil, errors.New("is not UTF-8 text; a JSON document was expected")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark
	var d memberDecoder
	err := json.Unmarshal(text, &d.members)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if quoted, n := quoteBareNumbers(text); n > 0 && json.Unmarshal(quoted, &d.members) == nil {
			d.warn(fmt.Errorf("%d bare NaN or Infinity in the JSON, which has no such numbers; taken as if in quotes", n))
			err = nil
		}
	}
	if err != nil || d.members == nil {
		return nil, nil, fmt.Errorf("does not parse as a JSON object: %w", orNull(err))
	}
	m := emptyManifest()
	d.identity(m)
	d.lists(m)
	return m, d.warnings, nil
}

// orNull stands in for the error of a document that is "null".
func orNull(err error) error {
	if err == nil {
		return errors.New("it is null")
	}
	return err
}

// memberDecoder decodes the members of a JSON object one by one.
type memberDecoder struct {
	members  map[string]json.RawMessage
	warnings []error
}

func (d *memberDecoder) warn(err error) { d.warnings = append(d.warnings, err) }

// identity decodes the members that say what the dump is of.
func (d *memberDecoder) identity(m *Manifest) {
	d.member("format", &m.Format)
	if _, there := d.members["version"]; there && !d.member("version", &m.Version) {
		m.Version = manifestVersion // and that is said already
	}
	d.member("producer", &m.Producer)
	d.member("run", &m.Run)
	d.member("num_envs", &m.NumEnvs)
	m.EnvIDs = decodeRows[int](d, "env_ids")
	m.EnvRoles = decodeRows[Role](d, "env_roles")
	d.member("clocks", &m.Clocks)
	if raw, ok := d.members["trip"]; ok && string(raw) != "null" {
		m.Trip = &Trip{Col: -1}
		if !d.member("trip", m.Trip) {
			m.Trip = nil
		}
	}
}

// lists decodes the members that may be long.
func (d *memberDecoder) lists(m *Manifest) {
	for _, f := range decodeList[fieldJSON](d, "fields", maxFields) {
		f.FieldSpec.Order = float64(f.Order)
		m.Fields = append(m.Fields, f.FieldSpec)
	}
	m.FirstBad = decodeList[FirstBad](d, "first_bad", maxFields)
	m.Events = decodeList[Event](d, "events", maxEvents)
	d.facts(m)
}

// member decodes one member into dst and reports whether it fitted.
func (d *memberDecoder) member(name string, dst any) bool {
	raw, ok := d.members[name]
	if !ok {
		return false
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		d.warn(fmt.Errorf("manifest: %s: %w", name, jsonError(err)))
		return false
	}
	return true
}

// decodeRows decodes a list whose items stand for rows: with one left out, the
// others would be of the wrong rows.
func decodeRows[T any](d *memberDecoder, name string) []T {
	var list []T
	if !d.member(name, &list) || list == nil {
		return []T{}
	}
	return list
}

// decodeList decodes a list item by item, so that one bad item costs itself.
func decodeList[T any](d *memberDecoder, name string, limit int) []T {
	raw, ok := d.members[name]
	if !ok || string(raw) == "null" {
		return []T{}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		d.warn(fmt.Errorf("manifest: %s is no list", name))
		return []T{}
	}
	out := []T{}
	bad := 0
	for i := 0; dec.More(); i++ {
		if len(out) == limit {
			d.warn(fmt.Errorf("manifest: %s has more than %d items; the first are kept", name, limit))
			break
		}
		var v T
		if err := dec.Decode(&v); err != nil {
			if bad++; bad == 1 {
				d.warn(fmt.Errorf("manifest: %s, item %d is left out: %w", name, i, jsonError(err)))
			}
			if bad > limit {
				break
			}
			continue
		}
		out = append(out, v)
	}
	if bad > 1 {
		d.warn(fmt.Errorf("manifest: %s: %d items do not fit and are left out", name, bad))
	}
	return out
}

// facts decodes the facts. "NaN" and "Infinity" are how the format writes
// numbers that JSON has no word for.
func (d *memberDecoder) facts(m *Manifest) {
	var raw map[string]any
	d.member("facts", &raw) // what fits is there even where not all does
	if len(raw) > maxFacts {
		d.warn(fmt.Errorf("manifest: %d facts over limit %d; none is kept", len(raw), maxFacts))
		return
	}
	for k, v := range raw {
		if s, ok := v.(string); ok {
			if f, ok := specialNumber(s); ok {
				raw[k] = f
			}
		}
	}
	if raw != nil {
		m.Facts = raw
	}
}

// fieldJSON is a FieldSpec whose order may be one of the special numbers.
type fieldJSON struct {
	FieldSpec
	Order number `json:"order"`
}

// number is a JSON number, or the name of one that JSON has no word for.
type number float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		if f, ok := specialNumber(s); ok {
			*n = number(f)
			return nil
		}
	}
	return json.Unmarshal(b, (*float64)(n))
}

// specialNumber returns the number that the format writes as text.
func specialNumber(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

// jsonError says in words of the file what does not fit.
func jsonError(err error) error {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return err
	}
	what := kind.Value
	if kind.Field != "" {
		what = strconv.Quote(kind.Field) + " is " + what
	}
	return fmt.Errorf("%s, which does not fit there", what)
}

// quoteBareNumbers puts NaN, Infinity and -Infinity outside strings into quotes:
// Python's json writes them bare.
func quoteBareNumbers(text []byte) (out []byte, n int) {
	for i := 0; i < len(text); {
		if text[i] == '"' {
			end := stringEnd(text, i)
			out = append(out, text[i:end]...)
			i = end
			continue
		}
		if w := bareNumber(text[i:]); w > 0 {
			out = append(append(append(out, '"'), text[i:i+w]...), '"')
			i += w
			n++
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out, n
}

// stringEnd returns the index behind the JSON string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// bareNumber returns the length of the special number that b begins with.
func bareNumber(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
