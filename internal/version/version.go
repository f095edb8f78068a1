// Package version knows which nanguard this is: for the commands, the library
// and the dumps that they write.
package version

import "runtime/debug"

// module is the path under which a program that imports nanguard lists it.
const module = "github.com/nanguard/nanguard"

// stamp is set by the linker (see the Makefile).
var stamp string

// String returns what the linker was told, else the version of the module that
// was built into the program, else "devel".
func String() string {
	if stamp != "" {
		return stamp
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return of(append(info.Deps, &info.Main))
}

// of returns the version of this module among those of a program.
func of(modules []*debug.Module) string {
	for _, m := range modules {
		if m.Path == module && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "devel"
}
