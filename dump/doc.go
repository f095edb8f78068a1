// Package dump is documented by its author.
package dump
