#include "textflag.h"

// Passes of package scan in AVX2. Operands are in the order of Go's assembler:
// the last one is the destination. vector_amd64.go says what each function does.

// MASKED lets the largest of the words at mem, of which keep is left, into max.
#define MASKED(mem, tmp, max) \
	VPAND   mem, Y15, tmp \
	VPMAXSW tmp, max, max

// func finiteAVX2(p unsafe.Pointer, n, step int, keep, most uint64) bool
TEXT ·finiteAVX2(SB), NOSPLIT, $0-41
	MOVQ         p+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         step+16(FP), DX
	VPBROADCASTQ keep+24(FP), Y15
	VPBROADCASTQ most+32(FP), Y14
	LEAQ         (DX)(DX*2), BX
	LEAQ         (SI)(DX*4), DI
	VPXOR        Y0, Y0, Y0
	VPXOR        Y1, Y1, Y1
	VPXOR        Y2, Y2, Y2
	VPXOR        Y3, Y3, Y3

finiteLoop:
	MASKED(0(SI), Y4, Y0)
	MASKED(32(SI), Y5, Y0)
	MASKED(0(SI)(DX*1), Y6, Y1)
	MASKED(32(SI)(DX*1), Y7, Y1)
	MASKED(0(SI)(DX*2), Y8, Y2)
	MASKED(32(SI)(DX*2), Y9, Y2)
	MASKED(0(SI)(BX*1), Y10, Y3)
	MASKED(32(SI)(BX*1), Y11, Y3)
	MASKED(0(DI), Y4, Y0)
	MASKED(32(DI), Y5, Y0)
	MASKED(0(DI)(DX*1), Y6, Y1)
	MASKED(32(DI)(DX*1), Y7, Y1)
	MASKED(0(DI)(DX*2), Y8, Y2)
	MASKED(32(DI)(DX*2), Y9, Y2)
	MASKED(0(DI)(BX*1), Y10, Y3)
	MASKED(32(DI)(BX*1), Y11, Y3)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $64, CX
	JGT  finiteLoop

	VPMAXSW   Y1, Y0, Y0
	VPMAXSW   Y3, Y2, Y2
	VPMAXSW   Y2, Y0, Y0
	VPCMPGTW  Y14, Y0, Y0 // which words are above most
	VPMOVMSKB Y0, AX
	TESTL     AX, AX
	SETEQ     ret+40(FP)
	VZEROUPPER
	RET

// func tally32AVX2(p unsafe.Pointer, n int, sum *[4]float64, ends *[2]float32, dst unsafe.Pointer, step int)
TEXT ·tally32AVX2(SB), NOSPLIT, $0-48
	MOVQ    p+0(FP), SI
	MOVQ    n+8(FP), CX
	MOVQ    sum+16(FP), DI
	MOVQ    ends+24(FP), DX
	MOVQ    dst+32(FP), R8
	MOVQ    step+40(FP), R9
	VMOVUPD (DI), Y0 // four sums
	VMOVUPS (SI), Y1 // minima
	VMOVAPS Y1, Y2   // maxima
	VMOVAPS Y1, Y3   // minima of other elements
	VMOVAPS Y1, Y4   // maxima of them

loop32:
	PREFETCHT0   2048(SI)
	VMOVUPS      0(SI), Y9
	VMOVUPS      32(SI), Y10
	VMOVUPS      Y9, 0(R8)
	VMOVUPS      Y10, 32(R8)
	VEXTRACTF128 $1, Y9, X6
	VEXTRACTF128 $1, Y10, X8
	VCVTPS2PD    X9, Y5
	VCVTPS2PD    X6, Y6
	VCVTPS2PD    X10, Y7
	VCVTPS2PD    X8, Y8
	VMINPS       Y9, Y1, Y1
	VMAXPS       Y9, Y2, Y2
	VMINPS       Y10, Y3, Y3
	VMAXPS       Y10, Y4, Y4
	VADDPD       Y5, Y0, Y0
	VADDPD       Y6, Y0, Y0
	VADDPD       Y7, Y0, Y0
	VADDPD       Y8, Y0, Y0
	ADDQ         $64, SI
	ADDQ         R9, R8
	SUBQ         $16, CX
	JGT          loop32

	VMOVUPD      Y0, (DI)
	VMINPS       Y3, Y1, Y1
	VMAXPS       Y4, Y2, Y2
	VEXTRACTF128 $1, Y1, X3
	VEXTRACTF128 $1, Y2, X4
	VMINPS       X3, X1, X1
	VMAXPS       X4, X2, X2
	VPERMILPS    $0x4e, X1, X3 // the upper two of four
	VPERMILPS    $0x4e, X2, X4
	VMINPS       X3, X1, X1
	VMAXPS       X4, X2, X2
	VPERMILPS    $0x01, X1, X3 // the upper one of two
	VPERMILPS    $0x01, X2, X4
	VMINSS       X3, X1, X1
	VMAXSS       X4, X2, X2
	VMOVSS       X1, 0(DX)
	VMOVSS       X2, 4(DX)
	VZEROUPPER
	RET

// func tally64AVX2(p unsafe.Pointer, n int, sum *[4]float64, ends *[2]float64, dst unsafe.Pointer, step int)
TEXT ·tally64AVX2(SB), NOSPLIT, $0-48
	MOVQ    p+0(FP), SI
	MOVQ    n+8(FP), CX
	MOVQ    sum+16(FP), DI
	MOVQ    ends+24(FP), DX
	MOVQ    dst+32(FP), R8
	MOVQ    step+40(FP), R9
	VMOVUPD (DI), Y0
	VMOVUPD (SI), Y1
	VMOVAPD Y1, Y2
	VMOVAPD Y1, Y3
	VMOVAPD Y1, Y4

loop64:
	PREFETCHT0 2048(SI)
	PREFETCHT0 2112(SI)
	VMOVUPD    0(SI), Y5
	VMOVUPD    32(SI), Y6
	VMOVUPD    64(SI), Y7
	VMOVUPD    96(SI), Y8
	VMOVUPD    Y5, 0(R8)
	VMOVUPD    Y6, 32(R8)
	VMOVUPD    Y7, 64(R8)
	VMOVUPD    Y8, 96(R8)
	VMINPD     Y5, Y1, Y1
	VMAXPD     Y5, Y2, Y2
	VMINPD     Y6, Y3, Y3
	VMAXPD     Y6, Y4, Y4
	VMINPD     Y7, Y1, Y1
	VMAXPD     Y7, Y2, Y2
	VMINPD     Y8, Y3, Y3
	VMAXPD     Y8, Y4, Y4
	VADDPD     Y5, Y0, Y0
	VADDPD     Y6, Y0, Y0
	VADDPD     Y7, Y0, Y0
	VADDPD     Y8, Y0, Y0
	ADDQ       $128, SI
	ADDQ       R9, R8
	SUBQ       $16, CX
	JGT        loop64

	VMOVUPD      Y0, (DI)
	VMINPD       Y3, Y1, Y1
	VMAXPD       Y4, Y2, Y2
	VEXTRACTF128 $1, Y1, X3
	VEXTRACTF128 $1, Y2, X4
	VMINPD       X3, X1, X1
	VMAXPD       X4, X2, X2
	VPERMILPD    $1, X1, X3
	VPERMILPD    $1, X2, X4
	VMINSD       X3, X1, X1
	VMAXSD       X4, X2, X2
	VMOVSD       X1, 0(DX)
	VMOVSD       X2, 8(DX)
	VZEROUPPER
	RET

// func halvesAVX2(dst *float32, src *uint16, n int)
TEXT ·halvesAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

loopHalves:
	VCVTPH2PS 0(SI), Y0
	VCVTPH2PS 16(SI), Y1
	VMOVUPS   Y0, 0(DI)
	VMOVUPS   Y1, 32(DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JGT       loopHalves
	VZEROUPPER
	RET

// func brainsAVX2(dst *float32, src *uint16, n int)
TEXT ·brainsAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

loopBrains:
	VPMOVZXWD 0(SI), Y0
	VPMOVZXWD 16(SI), Y1
	VPSLLD    $16, Y0, Y0
	VPSLLD    $16, Y1, Y1
	VMOVDQU   Y0, 0(DI)
	VMOVDQU   Y1, 32(DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	SUBQ      $16, CX
	JGT       loopBrains
	VZEROUPPER
	RET

// func hasF16C() bool
TEXT ·hasF16C(SB), NOSPLIT, $0-1
	MOVL  $1, AX
	XORL  CX, CX
	CPUID
	SHRL  $29, CX
	ANDL  $1, CX
	MOVB  CX, ret+0(FP)
	RET
