package dump

import (
	"fmt"
	"math"
)

// Get returns the value of a key, nil when it is missing.
func (m *Metadata) Get(key string) any {
	if m == nil {
		return nil
	}
	return m.Values[key]
}

// has reports whether the key is there.
func (m *Metadata) has(key string) bool {
	if m == nil {
		return false
	}
	_, ok := m.Values[key]
	return ok
}

// str returns a text, "" when the key is missing or no text.
func (m *Metadata) str(key string) string {
	s, _ := m.Get(key).(string)
	return s
}

// count returns a whole number that is not negative.
func (m *Metadata) count(key string) (int64, bool) {
	n, ok := m.Get(key).(int64)
	return n, ok && n >= 0
}

// envIDs returns a list of env ids. What is no id is left out and said.
func (m *Metadata) envIDs(key string) (ids []int, ok bool, err error) {
	v := m.Get(key)
	if n, single := v.(int64); single {
		v = []any{n}
	}
	items, ok := v.([]any)
	if !ok {
		if v != nil {
			err = fmt.Errorf("metadata: %s is no list of env ids", key)
		}
		return nil, false, err
	}
	ids = make([]int, 0, len(items))
	for _, item := range items {
		n, isInt := item.(int64)
		if !isInt || n < 0 || n > math.MaxInt32 {
			err = fmt.Errorf("metadata: %s holds values that are no env ids; they are left out", key)
			continue
		}
		ids = append(ids, int(n))
	}
	return ids, true, err
}

// envIDsByField returns a dict of lists of env ids.
func (m *Metadata) envIDsByField(key string) map[string][]int {
	dict, ok := m.Get(key).(map[string]any)
	if !ok {
		return nil
	}
	out := make(map[string][]int, len(dict))
	for name, v := range dict {
		inner := &Metadata{Values: map[string]any{name: v}}
		if ids, ok, _ := inner.envIDs(name); ok {
			out[name] = ids
		}
	}
	return out
}
