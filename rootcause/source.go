package rootcause

import (
	"github.com/nanguard/nanguard/dump"
	"github.com/nanguard/nanguard/mjb"
)

// Source is what a Case reads of a dump; a *dump.File is one. States, Model and
// the errors of Frames and Trace may say that the dump has no such thing.
type Source interface {
	Format() string
	Manifest() *dump.Manifest
	Metadata() *dump.Metadata
	States() *dump.StateInfo
	Field(name string) (dump.FieldSpec, bool)
	Frames(field string) (*dump.Series, error)
	Trace(field string) (*dump.Trace, error)
	Columns(field string) []string
	Model() *mjb.Model
	Warnings() []error
}

var _ Source = (*dump.File)(nil)
