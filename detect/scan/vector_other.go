//go:build !amd64

package scan

import "unsafe"

// There is assembly for amd64 only; elsewhere the compiler drops all calls.
const hasVectors = false

func finiteAVX2(unsafe.Pointer, int, int, uint64, uint64) bool { panic("scan: no vectors") }
func tally32AVX2(unsafe.Pointer, int, *[4]float64, *[2]float32, unsafe.Pointer, int) {
	panic("scan: no vectors")
}

func tally64AVX2(unsafe.Pointer, int, *[4]float64, *[2]float64, unsafe.Pointer, int) {
	panic("scan: no vectors")
}
func halvesAVX2(*float32, *uint16, int) { panic("scan: no vectors") }
func brainsAVX2(*float32, *uint16, int) { panic("scan: no vectors") }
