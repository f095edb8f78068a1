// Package tensor holds the few words that every other package of nanguard
// shares about arrays: element types, the class of a floating-point bit
// pattern, arrays that own their bytes and references to arrays that somebody
// else owns.
//
// An [Array] is what a dump file holds: little-endian bytes in C order. A
// [Ref] is what a training loop hands to the guard: an address with a shape
// and strides, valid for as long as its owner keeps the memory, and never
// freed or kept here.
//
// The package is a leaf: it imports nothing of nanguard.
package tensor
