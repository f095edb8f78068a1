// Package report writes a diagnosis as text for a person: the verdict first,
// then where it began, the ranked causes with their evidence and fix, and the
// ten-row checklist. Both commands print it, so that viznan in a pipe says the
// same as nanguard diagnose.
package report
