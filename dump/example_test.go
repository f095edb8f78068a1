package dump_test

import (
	"errors"
	"fmt"
	"log"
	"path/filepath"

	"github.com/nanguard/nanguard/dump"
)

func ExampleOpen() {
	f, err := dump.Open(filepath.Join("testdata", "mjlab_v4", "nan_dump_20261201_034427.npz"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	s, err := f.Frames(dump.StateField)
	if err != nil {
		log.Fatal(err)
	}
	m := f.Manifest()
	fmt.Printf("%s, %d of %d envs, %d states\n", f.Format(), len(m.EnvIDs), m.NumEnvs, len(s.Ticks))

	last := s.Values.Frame(len(s.Ticks) - 1)
	largest := 0
	for i := range last.Len() {
		if last.Float64(i) > last.Float64(largest) {
			largest = i
		}
	}
	fmt.Printf("before step %d, %s is %.3g\n", s.Counts[len(s.Counts)-1], f.Columns(dump.StateField)[largest], last.Float64(largest))
	// Output:
	// mjlab-v4, 1 of 24 envs, 25 states
	// before step 24, qvel palm_free vy is 1.63e+10
}

func ExampleFormatError() {
	_, err := dump.Open(filepath.Join("testdata", "bad", "pickle_builtin.npz"))
	var format *dump.FormatError
	if errors.As(err, &format) {
		fmt.Println(format.Entry)
		fmt.Println(format.Err)
	}
	// Output:
	// _metadata
	// pickle, byte 158: asks for the global "builtins.eval", which is not plain data: refused, nothing was run
}
