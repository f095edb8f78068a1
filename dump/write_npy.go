package dump

import (
	"io"

	"github.com/nanguard/nanguard/tensor"
)

// WriteNPY writes a as an npy file in its own element type; bfloat16, which
// numpy lacks, as its raw bits in uint16.
func WriteNPY(w io.Writer, a tensor.Array) error {
	if _, err := w.Write(npyHead(npyDescrOf(a.DType), a.Shape)); err != nil {
		return err
	}
	_, err := w.Write(a.Data)
	return err
}
