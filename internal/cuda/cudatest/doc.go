// Package cudatest gives tests a CUDA driver: the real one where there is a
// GPU, and on every machine with a C++ compiler one that plays a GPU on the
// host and runs the project's kernels, compiled from the same source.
//
// The environment variable NANGUARD_TEST_GPU says what a test that wants a
// real GPU does without one: "auto" or nothing skips it with the reason, "off"
// skips it always, and "required" makes it fail, for machines that are known
// to have a GPU.
package cudatest
