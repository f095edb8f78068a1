// Package scan is documented by its author.
package scan
