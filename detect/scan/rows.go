package scan

import "github.com/nanguard/nanguard/tensor"

// BadRows appends the rows of ref that hold a non-finite element to dst, in
// ascending order, and returns the extended slice.
func BadRows(dst []int, ref tensor.Ref) []int {
	mustBeHost(ref)
	row := ref
	row.Rows = 1
	for i := range ref.Rows {
		row.Base = element(&ref, i, 0)
		if !AllFinite(row) {
			dst = append(dst, i)
		}
	}
	return dst
}
