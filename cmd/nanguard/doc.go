// Command nanguard finds out why a robot-RL run went NaN.
//
//	nanguard demo [fault]        break a small simulation on purpose and diagnose it
//	nanguard inspect DUMP        what is in a dump
//	nanguard diagnose DUMP       what went bad first, the ranked causes, the checklist
//	nanguard export DUMP FIELD   values as CSV, JSON or npy
//	nanguard check PATH...       a verdict over files and folders, for CI
//	nanguard version             what this binary is
//
// Results go to stdout, as JSON with --json; everything else goes to stderr.
// The exit code is 0 when all is fine, 1 on failure, 2 on a usage error and 3
// when something non-finite or implausible was found.
package main
