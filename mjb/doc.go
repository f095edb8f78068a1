// Package mjb is documented by its author.
package mjb
