package kernel

import "structs"

// Bad is a place at which something was found, and when. Class is a
// tensor.Class, or one of the two classes below. Rows counts the rows that were
// bad in that frame.
type Bad struct {
	_                     structs.HostLayout
	Tick, Count, Row, Col int64
	Class, Field          uint32
	Rows                  int64
}

// The classes beyond those of package tensor: the absolute maximum broke the
// field's limit, or its limit on growth.
const (
	ClassLimit  = 4
	ClassGrowth = 5
)

// Row is one row of a trace: what scan.Summary holds, with its time.
type Row struct {
	_                   structs.HostLayout
	Tick, Count         int64
	NaN, PosInf, NegInf float64
	AbsMax, ArgMax      float64
	Min, Max, Mean      float64
}

// Field is a watched array. The first part is the host's, the second the
// GPU's.
type Field struct {
	_            structs.HostLayout
	Ring         uint64 // Slots frames, SlotBytes (a multiple of 16) apart
	SlotBytes    int64
	Trace        uint64 // TraceLen times Row
	Bitmap       uint64 // of the rows bad in the first bad frame, 32 to a word
	Rows, Cols   int64
	Slots        uint32 // 0 when frames are not kept
	TraceLen     uint32 // at least 1
	DType        uint32 // a tensor.DType
	Flags        uint32
	Rank         uint32  // place in the loop, below 2^20, unique
	GrowthFrames uint32  // how far back growth is measured, below TraceLen; 0: not
	Limit        float64 // of the absolute value; 0: none
	Growth       float64 // factor
	Floor        float64 // growth up to this value is no growth

	Frames  int64 // ever seen
	Slot    uint32
	TraceAt uint32 // where the next frame and row go
	Done, _ uint32
	First   Bad // Class is finite until there is one
	_       Bad // what may trip, within a check
}

// The flags of a field: a Monitor never takes the trip; MarkEnvs says that its
// rows are envs, whose first bad value EnvKeys is to tell.
const (
	FlagMonitor  = 1
	FlagMarkEnvs = 2
)

// State is what the launches of one guard share.
type State struct {
	_                     structs.HostLayout
	Tick                  int64 // of the last check
	Clocks                [Clocks]int64
	PostFrames, PostLeft  int64
	EnvKeys               uint64 // for each env Tick<<20|Rank, or all ones
	Partials              uint64
	Verdict               uint64
	Candidate             uint64 // all ones between two checks
	Frozen, Tripped, Done uint32
	TripClock             uint32
	Trip                  Bad
}

// Clocks is how many clocks a State has.
const Clocks = 8

// Verdict is what the GPU tells the host, in memory of the host. Tripped and
// Frozen are set when Trip is there.
type Verdict struct {
	_               structs.HostLayout
	Tick            int64
	Tripped, Frozen uint32
	Trip            Bad
	Clock, _        uint32
}

// PartialBytes is the size of what each block of a launch needs in
// State.Partials.
const PartialBytes = 64

// Arg is one field of a check.
type Arg struct {
	_                    structs.HostLayout
	Base                 uint64
	RowStride, ColStride int64 // bytes
	Field, Mode          uint32
}

// The modes: ModeVector for C order at a multiple of 16 and for no elements at
// all, ModeElement for addresses and strides that are multiples of the
// element's size, ModeByte for everything else.
const (
	ModeVector = iota
	ModeElement
	ModeByte
)

// Call is what a launch says about itself. Chunk, in bytes, is a multiple of
// 4096 below 2^32. Total is the sum of Args over the launches of the check.
type Call struct {
	_              structs.HostLayout
	State, Fields  uint64
	Chunk          uint64
	Args, Total    uint32
	Clock, Advance uint32
}

// Launch16 is the parameter of the kernel Check16. First says at which block
// the chunks of each argument begin.
type Launch16 struct {
	_     structs.HostLayout
	Call  Call
	First [16]uint32
	Args  [16]Arg
}

// Launch100 is the parameter of the kernel Check100.
type Launch100 struct {
	_     structs.HostLayout
	Call  Call
	First [100]uint32
	Args  [100]Arg
}

// Op is what the kernel Control is asked to do.
type Op uint32

// Freeze stops the recording. Rearm takes a trip back and starts it again; the
// host clears the bitmaps and the env keys.
const (
	Freeze Op = 1
	Rearm  Op = 2
)
