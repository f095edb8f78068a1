// Package rootcause is documented by its author.
package rootcause
