package cudatest

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/nanguard/nanguard/internal/cuda"
)

// Faulty is a library of which some calls do not do what they should. The maps
// may be changed between calls by the goroutine that makes them.
type Faulty struct {
	cuda.Library
	Missing map[string]bool        // functions that the library lacks
	Fail    map[string]cuda.Result // what functions return instead of being called,
	After   map[string]int         // once they have been called so often,
	Times   map[string]int         // and only so often; absent: from then on
	Calls   map[string]int         // how often each was called; nil: not counted

	mu    sync.Mutex
	names map[uintptr]string
}

// Lookup finds what is not missing.
func (f *Faulty) Lookup(name string) (uintptr, error) {
	if f.Missing[name] {
		return 0, errors.New("undefined symbol: " + name)
	}
	fn, err := f.Library.Lookup(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil {
		f.names = map[uintptr]string{}
	}
	f.names[fn] = name
	return fn, err
}

// Call calls what does not fail.
func (f *Faulty) Call(fn uintptr, args []uintptr) uintptr {
	f.mu.Lock()
	name := f.names[fn]
	r, fails := f.Fail[name]
	if fails && f.After[name] > 0 {
		f.After[name]--
		fails = false
	}
	if n, limited := f.Times[name]; fails && limited {
		f.Times[name], fails = max(0, n-1), n > 0
	}
	if f.Calls != nil {
		f.Calls[name]++
	}
	f.mu.Unlock()
	if fails {
		return uintptr(r)
	}
	return f.Library.Call(fn, args)
}

// Enter makes the context current on the thread of the test, as a framework does
// it, until the function that it returns is called.
func Enter(t testing.TB, lib cuda.Library, c *cuda.Context) (leave func()) {
	t.Helper()
	runtime.LockOSThread()
	call := func(name string, arg uintptr) {
		fn, err := lib.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if r := cuda.Result(lib.Call(fn, []uintptr{arg})); r != cuda.Success {
			t.Fatalf("%s: %v", name, r)
		}
	}
	call("cuCtxPushCurrent_v2", c.Handle())
	return func() {
		old := new(uintptr)
		call("cuCtxPopCurrent_v2", uintptr(unsafe.Pointer(old)))
		runtime.UnlockOSThread()
	}
}

// Lose takes the context of one of the host's GPUs away until the test ends: every
// call says r from now on.
func Lose(t testing.TB, device int, r cuda.Result) {
	t.Helper()
	ask(t, "ng_lose", uintptr(device), uintptr(r))
	t.Cleanup(func() { Heal(t, device) })
}

// Heal gives the context back.
func Heal(t testing.TB, device int) {
	t.Helper()
	ask(t, "ng_lose", uintptr(device), 0)
}

// Objects returns how many objects of the host's driver were made and not given
// back: memory, streams, graphs, events and modules, of the whole process.
func Objects(t testing.TB) int {
	t.Helper()
	return int(ask(t, "ng_objects"))
}

// ask calls a function of the fake that no driver has.
func ask(t testing.TB, name string, args ...uintptr) uint32 {
	t.Helper()
	lib := HostLibrary(t)
	fn, err := lib.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(lib.Call(fn, args))
}
