package kernel

import "structs"

// Row is one row of a trace: what scan.Summary holds, with its time.
type Row struct {
	_                   structs.HostLayout
	Tick, Count         int64
	NaN, PosInf, NegInf float64
	AbsMax, ArgMax      float64
	Min, Max, Mean      float64
}

// Turn is a frame of a field and what the next one needs.
type Turn struct {
	_             structs.HostLayout
	Tick          int64
	Dst           uint64  // where the next frame goes in the ring; 0: nowhere
	To            uint64  // where its readers leave what they find
	Bound         float64 // an absolute value above it is out of bounds in the next frame
	Count         int64
	Frames        int64  // up to this one; the parity says which half of the partials is its own
	Slot, TraceAt uint32 // where its frame and its row lie
	Held, _       uint32 // frames in the ring
}

// First is the first bad value of a field; Tick is 0 while there is none.
type First struct {
	_           structs.HostLayout
	Key         uint64 // element << 2 | tensor.Class
	Tick, Count int64
	Rows, _     uint32 // bad in that frame
}

// Field is a watched array. The first part is the GPU's; the host gives it a
// turn of tick 0 to begin with.
type Field struct {
	_     structs.HostLayout
	Turns [2]Turn // the one of the larger tick is the latest
	First First

	Ring         uint64 // Slots frames, SlotBytes (a multiple of 16) apart
	SlotBytes    int64
	Trace        uint64 // TraceLen times Row
	Bitmap       uint64 // of the rows bad in the first bad frame, 32 to a word
	Partials     uint64 // 2 * MaxReaders * PartialBytes
	Rows, Cols   int64
	Slots        uint32 // 0 when frames are not kept
	TraceLen     uint32 // at least 1
	MaxReaders   uint32
	DType        uint32 // a tensor.DType
	Flags        uint32
	Rank         uint32 // place in the loop, below 2^20, unique
	GrowthFrames uint32 // how far back growth is measured, from 2 to TraceLen-1; 0: not
	_            uint32
	Limit        float64 // of the absolute value; 0: none
	Growth       float64 // factor
	Floor        float64 // growth up to this value is no growth
	_            [6]uint64
}

// PartialBytes is the size of what a reader found.
const PartialBytes = 64

// The flags of a field: a Monitor never takes the trip; MarkEnvs says that its
// rows are envs, whose first bad value EnvKeys is to tell.
const (
	FlagMonitor  = 1
	FlagMarkEnvs = 2
)

// Trip is what the recorder stopped for, or is about to. Its key has, from the
// top, one bit for a precursor, 20 bits for the field's rank, 41 for the
// element and two for its class: a tensor.Class or, of a precursor, BrokeLimit
// or BrokeGrowth.
type Trip struct {
	_                  structs.HostLayout
	Tick, Count, Until int64
	Key                uint64
	Clock, _           uint32
}

// The classes of a precursor.
const (
	BrokeLimit  = 0
	BrokeGrowth = 1
)

// Verdict is what the GPU tells the host, in memory of the host.
type Verdict struct {
	_               structs.HostLayout
	Trip            Trip
	Tripped, Frozen uint32
	Rearms          uint32 // how often recording began again
	Seq             uint32 // odd while the rest is being written
}

// Clocks is how many clocks a State has.
const Clocks = 8

// State is what the launches of one guard share.
type State struct {
	_               structs.HostLayout
	Tick            int64 // of the last check
	Frozen, Tripped uint32
	Verdict         uint64
	EnvKeys         uint64 // for each env Tick<<20|Rank, or all ones
	Clocks          [Clocks]int64
	PostFrames      int64
	Trip            Trip
	Rearms          uint32
	Thaw            uint32 // an Op to do at the end of the next check: Rearm or Resume
	Candidate       uint64 // all ones between two checks
	Done            uint64 // 0 between two checks
}

// Call is what a launch says about itself.
type Call struct {
	_              structs.HostLayout
	State, Fields  uint64
	Args           uint32
	Blocks         uint32 // of all launches of the check together
	Clock, Advance uint32
	Part, _        uint32 // 0 in the first launch of the check
}

// Source says where an argument lies; strides are in bytes, N is in elements.
type Source struct {
	_                    structs.HostLayout
	Base                 uint64
	RowStride, ColStride int64
	N                    uint64
}

// MaxArgs is how many arguments one launch has at most.
const MaxArgs = 48

// Launch is the parameter of the kernel Check. The first Args blocks are
// bookkeepers; First says at which block the readers of each argument begin.
// What of an argument is Field << 16 | DType << 8 | Mode.
type Launch struct {
	_     structs.HostLayout
	Call  Call
	First [MaxArgs]uint32
	What  [MaxArgs]uint32
	From  [MaxArgs]Source
}

// The modes: ModeVector for C order at a multiple of 16 and for no elements at
// all, ModeElement for addresses and strides that are multiples of the
// element's size, ModeByte for everything else.
const (
	ModeVector = iota
	ModeElement
	ModeByte
)

// TileBytes is what a reader reads at a time, of neighbouring elements.
const TileBytes = 20 << 10

// Op is what the kernel Control is asked to do.
type Op uint32

// Freeze stops the recording, Resume lets it go on. Rearm takes a trip back,
// empties the rings and starts again; the host clears the bitmaps and the env
// keys. All three must be ordered with checks.
//
// The others are for a frozen recorder, while checks may be running. Empty empties
// the rings. AskRearm and AskResume have Rearm, without Empty, or Resume done at
// the end of the next check; Thaw, ordered with checks, does it at once if it is
// not done yet, and so does Freeze.
const (
	Freeze Op = 1 + iota
	Rearm
	Resume
	Empty
	AskRearm
	AskResume
	Thaw
)
