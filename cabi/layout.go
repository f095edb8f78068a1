//go:build cgo

package main

// #include "exports.h"
import "C"

import "github.com/nanguard/nanguard/tensor"

// abi is the NG_ABI to which all of the following belongs.
const abi = 3

// What nanguard.h counts by hand must be what package tensor counts, and the
// structs must have the sizes that callers were compiled with: an index that is
// not 0 does not compile.
var (
	_ = [1]struct{}{}[C.NG_ABI-abi]

	_ = [1]struct{}{}[C.NG_FLOAT16-C.int(tensor.Float16)]
	_ = [1]struct{}{}[C.NG_BFLOAT16-C.int(tensor.BFloat16)]
	_ = [1]struct{}{}[C.NG_FLOAT32-C.int(tensor.Float32)]
	_ = [1]struct{}{}[C.NG_FLOAT64-C.int(tensor.Float64)]
	_ = [1]struct{}{}[C.NG_INT8-C.int(tensor.Int8)]
	_ = [1]struct{}{}[C.NG_INT16-C.int(tensor.Int16)]
	_ = [1]struct{}{}[C.NG_INT32-C.int(tensor.Int32)]
	_ = [1]struct{}{}[C.NG_INT64-C.int(tensor.Int64)]
	_ = [1]struct{}{}[C.NG_UINT8-C.int(tensor.Uint8)]
	_ = [1]struct{}{}[C.NG_UINT16-C.int(tensor.Uint16)]
	_ = [1]struct{}{}[C.NG_UINT32-C.int(tensor.Uint32)]
	_ = [1]struct{}{}[C.NG_UINT64-C.int(tensor.Uint64)]
	_ = [1]struct{}{}[C.NG_BOOL-C.int(tensor.Bool)]

	_ = [1]struct{}{}[C.NG_HOST-C.int(tensor.Host)]
	_ = [1]struct{}{}[C.NG_CUDA-C.int(tensor.CUDA)]

	_ = [1]struct{}{}[C.sizeof_ng_config-88]
	_ = [1]struct{}{}[C.sizeof_ng_field-88]
	_ = [1]struct{}{}[C.sizeof_ng_ref-64]
	_ = [1]struct{}{}[C.sizeof_ng_event-56]
	_ = [1]struct{}{}[C.sizeof_ng_verdict-5432]
	_ = [1]struct{}{}[C.sizeof_ng_summary-96]
	_ = [1]struct{}{}[C.sizeof_ng_known-56]
	_ = [1]struct{}{}[C.sizeof_ng_known_checks-24]
)
