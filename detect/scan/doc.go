// Package scan looks at every element of an array: is it finite, and if not
// where is the first that is not; how large, how small and how much on average
// are those that are.
//
// [Host] answers all of that in one pass, [AllFinite] only the first question,
// several times faster, and [BadRows] says which rows are meant. [Copy] brings
// the elements into C order, and [Capture] scans them on the way. All of them take any strides, zero and negative
// ones included, any alignment, no rows and no columns, and none of them
// allocates (BadRows appends to the slice that it is given).
//
// # What a summary is, exactly
//
// Elements are numbered in row-major order. The minimum and the maximum are
// those of the finite elements, and zero has no sign. AbsMax is the larger of
// their absolute values, ArgMax the row of the first element that has it.
//
// The mean is the sum of the finite elements, in float64, divided by their
// number. Element i is added to the partial sum i mod 4, in ascending order;
// the mean is that of (s0 + s1) + (s2 + s3). The result is therefore the same
// on every machine and for every stride. The kernel, which adds neighbours as
// float32 and in another order, agrees within 2^-22 of the mean absolute value. Should the sum of
// float64 elements overflow, the elements are added again at 2^-80 of their
// size, so that finite elements always have a finite mean.
//
// Elements of integer and bool arrays are finite and summarised in the same
// way; a bool is 0 or 1.
//
// # How it is fast
//
// AllFinite reads eight bytes at a time and asks for all lanes of the word at
// once whether an exponent is all ones. Host compares each element with the
// extremes so far, which the branch predictor gets right nearly always, and
// learns from the sums whether a block of elements was finite: one NaN or
// infinity makes a sum non-finite and it stays so. Only such a block is looked
// at element by element.
//
// On amd64 with AVX2 and F16C, assembly does the same to 32 bytes at a time. It
// asks whether an element is finite of the 16 bits with its exponent, which a
// maximum of words answers for all types alike, and adds to the four sums in the
// order above, so that a summary has the same bits with and without it. That
// order is what bounds Host: each addition waits for the one before, so four
// elements take the time of one addition. What Capture copies meanwhile costs
// nothing as long as it stays in a cache.
package scan
