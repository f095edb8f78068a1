package dump

import (
	"errors"
	"fmt"
	"strings"
)

// CheckName reports why a field cannot have the given name: names are made of
// letters, digits, "_", ".", "-" and "/", and must stay inside the folder that
// the file may be unpacked in.
func CheckName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/"
	switch {
	case name == "":
		return errors.New("field without a name")
	case name == StateField:
		return fmt.Errorf("field %q: the name is taken by the simulator's state", name)
	case strings.Trim(name, allowed) != "":
		return fmt.Errorf("field %q: a name is made of letters, digits, \"_\", \".\", \"-\" and \"/\"", name)
	case len(name) > maxName:
		return fmt.Errorf("field %.40q...: name of %d bytes over limit %d", name, len(name), maxName)
	}
	for _, part := range strings.Split(name, "/") {
		if strings.Trim(part, ".") == "" {
			return fmt.Errorf("field %q: %q is no part of a name", name, part)
		}
	}
	return nil
}

// maxName is the longest name of a field.
const maxName = 200

// CheckFact reports why a fact cannot be kept: its value must be a number, a
// string or a bool.
func CheckFact(name string, v any) error {
	if name == "" {
		return errors.New("fact without a name")
	}
	switch v.(type) {
	case bool, string, float32, float64, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return nil
	}
	return fmt.Errorf("fact %q: value of type %T, want a number, a string or a bool", name, v)
}
