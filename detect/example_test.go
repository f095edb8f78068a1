package detect_test

import (
	"fmt"
	"log"
	"math"
	"os"

	"github.com/nanguard/nanguard/detect"
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/tensor"
)

// A loop over four envs in which the velocity of env 2 is not finite after the
// third substep.
func ExampleGuard() {
	dir, err := os.MkdirTemp("", "nan_dumps")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	cfg := detect.DefaultConfig()
	cfg.NumEnvs, cfg.Dir = 4, dir
	guard, err := detect.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer guard.Close()

	qvel := make([]float32, 4*2)
	if _, err := guard.Bind("qvel", tensor.RefOf(qvel, 4, 2), detect.FieldOptions{Cols: []string{"vx", "vz"}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(guard.Plan())

	for step := range 5 {
		if step == 2 {
			qvel[2*2+1] = float32(math.NaN())
		}
		if err := guard.Check(dump.ClockSubstep); err != nil {
			log.Fatal(err)
		}
	}
	v, tripped := guard.Wait()
	fmt.Println(tripped, v.Done, v.Error)
	fmt.Printf("%s of env %d, column %d is %s at substep %d\n", v.Trip.Field, *v.Trip.Env, v.Trip.Col, v.Trip.Class, v.Trip.Count)

	f, err := dump.Open(v.Path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Manifest().EnvIDs, f.Manifest().EnvRoles)
	// Output:
	// ring 512 MiB: qvel 1000 frames
	// true true <nil>
	// qvel of env 2, column 1 is nan at substep 3
	// [2 1 3] [culprit control control]
}
