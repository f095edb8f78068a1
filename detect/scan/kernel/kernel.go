package kernel

import _ "embed"

// PTX is the compiled scan.cu: version 8.0 for sm_70.
//
//go:embed scan.ptx
var PTX string

// The names of the kernels in PTX. Check takes a Launch; Flush takes the address
// of the fields and has a block for each; Control takes a State's address, the
// address and number of its fields and an Op, and has a thread for each.
const (
	Check   = "ng_check"
	Flush   = "ng_flush"
	Control = "ng_control"
)

// Threads is how many threads a block of each kernel has.
const Threads = 128
