// Diagnosis measures how well package rootcause diagnoses failures whose cause
// is known, and writes the report that is committed in bench/results.
//
//	go run ./bench/diagnosis -seeds 50
//
// It builds every fixture with many seeds, takes the captured dumps of real
// engines beside them, and looks at each dump in several versions: as it is, and
// with what others would lack of it (degrade.go). Each diagnosis is marked by
// package score; the marks are counted by version, by cause and by belief.
//
// Even seeds of the fixtures and the captured dumps with the split "tune" are
// what thresholds and likelihoods may be fitted on; the figures that count are
// those of the other half.
package main
