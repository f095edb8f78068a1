package dump

import (
	"fmt"
	"strconv"
)

// plainer turns what the machine made into plain values. Objects may be shared,
// even hold themselves, and a small pickle can stand for an endless tree, so
// depth and number of values are bounded.
type plainer struct{ made int }

// plain returns v as nil, bool, int64, float64, string, []any or map[string]any.
func (p *plainer) plain(v any, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("nested deeper than %d", maxNesting)
	}
	if p.made++; p.made > maxObjects {
		return nil, fmt.Errorf("more than %d values", maxObjects)
	}
	switch v := v.(type) {
	case pyBytes:
		return string(v), nil
	case pyGlobal:
		return string(v), nil
	case *pyDType:
		return v.name, nil
	case pyTuple:
		return p.list(v, depth)
	case *pyList:
		return p.list(v.items, depth)
	case *pyArray:
		return p.array(v, depth)
	case *pyDict:
		m, err := p.dict(v, depth)
		if err != nil {
			return nil, err
		}
		return m.Values, nil
	}
	return v, nil
}

func (p *plainer) list(items []any, depth int) (any, error) {
	out := make([]any, 0, min(len(items), maxObjects-p.made))
	for _, item := range items {
		v, err := p.plain(item, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// dict returns the entries with the order of their keys.
func (p *plainer) dict(d *pyDict, depth int) (*Metadata, error) {
	m := &Metadata{Values: map[string]any{}}
	for i, k := range d.keys {
		v, err := p.plain(d.values[i], depth+1)
		if err != nil {
			return nil, err
		}
		key, err := keyText(k)
		if err != nil {
			return nil, err
		}
		if _, again := m.Values[key]; !again {
			m.Keys = append(m.Keys, key)
		}
		m.Values[key] = v
	}
	return m, nil
}

// keyText returns a key as text: Python allows any constant.
func keyText(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case pyBytes:
		return string(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case nil:
		return "None", nil
	case bool, float64:
		return fmt.Sprint(k), nil
	}
	return "", fmt.Errorf("%s is the key of a dict", pyName(k))
}

// array returns the only element of an array without dimensions, else lists.
func (p *plainer) array(a *pyArray, depth int) (any, error) {
	if a.note != "" {
		return a.note, nil
	}
	if p.made += a.count; p.made > maxObjects {
		return nil, fmt.Errorf("more than %d values", maxObjects)
	}
	if len(a.shape) == 0 {
		return p.element(a, 0, depth)
	}
	next := 0
	return p.nest(a, a.shape, &next, depth)
}

// nest returns the elements from next on as lists within lists.
func (p *plainer) nest(a *pyArray, shape []int, next *int, depth int) (any, error) {
	if len(shape) == 0 {
		*next++
		return p.element(a, *next-1, depth)
	}
	out := []any{}
	for range min(shape[0], a.count) {
		v, err := p.nest(a, shape[1:], next, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// element returns element i in the order in which the array holds them.
func (p *plainer) element(a *pyArray, i, depth int) (any, error) {
	if a.items != nil {
		return p.plain(a.items.items[i], depth+1)
	}
	return a.elem.value(a.data, i), nil
}
