package cuda

// Library is a loaded driver: the seam at which tests put one of their own.
// Both methods may be called from several threads.
type Library interface {
	// Lookup returns what Call takes for the function of that name.
	Lookup(name string) (fn uintptr, err error)
	// Call calls a function with integer and pointer arguments and returns its
	// result. It keeps neither the slice nor, beyond what the function itself
	// does, the memory that the arguments point to.
	Call(fn uintptr, args []uintptr) uintptr
}
