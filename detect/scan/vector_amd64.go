package scan

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// hasVectors says whether the functions of vector_amd64.s can run here: AVX2,
// which the system must save too, and the conversion of halves, which every
// CPU with AVX2 has, but a virtual machine may hide.
var hasVectors = cpu.X86.HasAVX2 && hasF16C()

// hasF16C asks the CPU whether it converts halves.
func hasF16C() bool

// finiteAVX2 reports whether no word of eight streams of n bytes, which start
// step bytes apart, is above most where keep is left of it; all words are
// compared as signed. n is a positive multiple of 64.
//
//go:noescape
func finiteAVX2(p unsafe.Pointer, n, step int, keep, most uint64) bool

// tally32AVX2 adds n elements at p to the four sums, stores the smallest and the
// largest of them, which mean nothing when a sum is not finite afterwards, and
// copies the elements to dst, which moves on by step bytes for each 16 of them:
// 64, or 0 where nobody wants the copy. It reads each element once, so that what it
// says is true of the copy. n is a positive multiple of 16.
//
//go:noescape
func tally32AVX2(p unsafe.Pointer, n int, sum *[4]float64, ends *[2]float32, dst unsafe.Pointer, step int)

// tally64AVX2 is tally32AVX2 for float64, where step is 128 or 0.
//
//go:noescape
func tally64AVX2(p unsafe.Pointer, n int, sum *[4]float64, ends *[2]float64, dst unsafe.Pointer, step int)

// halvesAVX2 widens n elements of float16; n is a positive multiple of 16.
//
//go:noescape
func halvesAVX2(dst *float32, src *uint16, n int)

// brainsAVX2 widens n elements of bfloat16; n is a positive multiple of 16.
//
//go:noescape
func brainsAVX2(dst *float32, src *uint16, n int)
