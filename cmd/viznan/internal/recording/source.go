package recording

import "github.com/nanguard/nanguard/dump"

// Source is where a recording comes from; *dump.File is one. Frames and Trace
// may be called while the program runs, one call at a time.
type Source interface {
	Name() string
	Format() string
	Manifest() *dump.Manifest
	States() *dump.StateInfo
	Field(name string) (dump.FieldSpec, bool)
	Frames(field string) (*dump.Series, error)
	Trace(field string) (*dump.Trace, error)
	Columns(field string) []string
	Warnings() []error
}

var _ Source = (*dump.File)(nil)
