// Package loadgen drives the variants.
package loadgen
