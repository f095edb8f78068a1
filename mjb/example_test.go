package mjb_test

import (
	"fmt"
	"log"
	"os"

	"github.com/nanguard/nanguard/mjb"
)

// The columns of a state vector by name.
func ExampleOpen() {
	m, err := mjb.Open("testdata/mocap_hand_4.0.0.mjb")
	if err != nil {
		log.Fatal(err)
	}
	parts, err := m.PartsForSize(16414, 41) // state_spec and state_size of the dump
	if err != nil {
		log.Fatal(err)
	}
	labels := m.StateLabels(parts)
	fmt.Println("MuJoCo", m.Version, parts)
	fmt.Println(labels[11], "|", labels[23], "|", labels[40])
	// Output:
	// MuJoCo 4.0.0 [{qpos 0 21} {qvel 21 39} {act 39 41}]
	// qpos index_hinge | qvel palm_free vz | act thumb_int
}

// Where the bodies are in a configuration.
func ExampleModel_Kinematics() {
	m, err := mjb.Open("testdata/mocap_hand_4.0.0.mjb")
	if err != nil {
		log.Fatal(err)
	}
	poses := m.Kinematics(m.Qpos0, nil, nil)
	fmt.Printf("%s %.2f\n", m.Bodies[5].Name, poses[5].Pos)
	// Output:
	// index_tip [0.10 0.02 0.50]
}

func ExampleJointsFromMJCF() {
	f, err := os.Open("testdata/hand.xml")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	m, err := mjb.JointsFromMJCF(f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.NQ, m.NV, m.DofLabels()[9:12])
	// Output:
	// 21 18 [index_hinge thumb_slide thumb_hinge]
}
