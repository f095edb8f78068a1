package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
)

// marshalManifest returns the JSON of m, with non-finite numbers of events and
// facts as strings. The caller's maps and slices are not changed.
func marshalManifest(m Manifest) ([]byte, error) {
	for i, e := range m.Events {
		d, err := Plain(e.Detail)
		if err != nil {
			return nil, fmt.Errorf("event %d (%s): detail: %w", i, e.Kind, err)
		}
		m.Events[i].Detail = d
	}
	facts := make(map[string]any, len(m.Facts))
	for name, v := range m.Facts {
		p, err := Plain(v)
		if err != nil {
			return nil, fmt.Errorf("fact %q: %w", name, err)
		}
		facts[name] = p
	}
	m.Facts = facts

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// maxDepth bounds how deep a detail nests, so that one that holds itself is an
// error.
const maxDepth = 32

// Plain returns v as a manifest can hold it, sharing nothing with v: non-finite
// floats become strings, maps with string keys and slices are copied, and
// anything else must be something that encoding/json takes.
func Plain(v any) (any, error) { return plainValue(reflect.ValueOf(v), maxDepth) }

func plainValue(v reflect.Value, depth int) (any, error) {
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if !v.IsValid() {
		return nil, nil
	}
	switch x := v.Interface().(type) {
	case json.Number:
		return x, nil
	case json.Marshaler:
		b, err := json.Marshal(x)
		return json.RawMessage(b), err
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return plainFloat(v.Float()), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Interface:
		return plainValue(v.Elem(), depth)
	case reflect.Map:
		return plainMap(v, depth)
	case reflect.Slice, reflect.Array:
		return plainList(v, depth)
	}
	b, err := json.Marshal(v.Interface())
	return json.RawMessage(b), err
}

func plainList(v reflect.Value, depth int) (any, error) {
	list := make([]any, v.Len())
	for i := range list {
		p, err := plainValue(v.Index(i), depth-1)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		list[i] = p
	}
	return list, nil
}

func plainMap(v reflect.Value, depth int) (any, error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("keys of type %v, want strings", v.Type().Key())
	}
	m := make(map[string]any, v.Len())
	for it := v.MapRange(); it.Next(); {
		p, err := plainValue(it.Value(), depth-1)
		if err != nil {
			return nil, fmt.Errorf("[%q]: %w", it.Key(), err)
		}
		m[it.Key().String()] = p
	}
	return m, nil
}

// plainFloat spells non-finite numbers as the format does.
func plainFloat(f float64) any {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return f
}
