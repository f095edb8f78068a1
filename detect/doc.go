// Package detect is documented by its author.
package detect
