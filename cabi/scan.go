//go:build cgo

package main

// #include "exports.h"
import "C"

import (
	"runtime/debug"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/tensor"
)

//export goScan
func goScan(ref C.in_refs, summary *C.ng_summary, text *C.text_buffer) (code C.int) {
	defer catch(&code, text)
	r, err := hostRefOf(ref)
	if err == nil {
		code, err = scanned(r, summary)
	}
	if err != nil {
		return report(err, C.NG_ERR_ARGUMENT, text)
	}
	return code
}

// hostRefOf returns an array of a C caller's that can be scanned where it is.
func hostRefOf(ref C.in_refs) (tensor.Ref, error) {
	if ref.memory != C.NG_HOST {
		return tensor.Ref{}, wrong("scan: memory of kind %d: without a guard only host memory is scanned", ref.memory)
	}
	r, err := refOf("scan", ref, C.NG_DEVICE_HOST)
	switch {
	case err != nil:
		return r, err
	case r.DType.Size() == 0:
		return r, wrong("scan: unknown dtype %d", ref.dtype)
	case r.Base == nil && r.Bytes() > 0:
		return r, wrong("scan: %d rows x %d columns at no address", r.Rows, r.Cols)
	}
	return r, nil
}

// scanned scans r, for the summary when there is one to fill in. Memory that
// cannot be read is an error, as it is in a check.
func scanned(r tensor.Ref, summary *C.ng_summary) (code C.int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = wrong("scan: memory that cannot be read at %#x", p.Addr())
		default:
			panic(p)
		}
	}()
	if summary == nil {
		if !scan.AllFinite(r) {
			return C.NG_TRIPPED, nil
		}
		return C.NG_OK, nil
	}
	s := scan.Host(r)
	putSummary(summary, &s)
	if s.First.Class != tensor.Finite {
		return C.NG_TRIPPED, nil
	}
	return C.NG_OK, nil
}

// putSummary fills in a summary of ours for guard.c.
func putSummary(to *C.ng_summary, s *scan.Summary) {
	to.nan, to.posinf, to.neginf = C.int64_t(s.NaN), C.int64_t(s.PosInf), C.int64_t(s.NegInf)
	to.absmax, to.min, to.max, to.mean = C.double(s.AbsMax), C.double(s.Min), C.double(s.Max), C.double(s.Mean)
	to.absmax_row = C.int64_t(s.ArgMax)
	to.bad_rows = C.int64_t(s.First.Rows)
	to.first_class, to.first_row, to.first_col = 0, -1, -1
	if c := s.First.Class; c != tensor.Finite {
		to.first_class, to.first_row, to.first_col = classes[c.String()], C.int64_t(s.First.Row), C.int64_t(s.First.Col)
	}
}
