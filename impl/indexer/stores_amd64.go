//go:build gc && !race

package indexer

import "unsafe"

// This processor shows its writes to others in the order of the program, which the
// compiler keeps, and each word at once. Readers beside the writer need no more, and
// the writer's Unlock returns when all of them are seen. An atomic store waits for
// that itself: a fifth of the time of a Delete and an Add.

// store32 and store64 store w for readers beside the writer.
func store32(p *uint32, w uint32) { *p = w }
func store64(p *uint64, w uint64) { *p = w }

// storeAddress stores a pointer for them.
func storeAddress(p *unsafe.Pointer, to unsafe.Pointer) { *p = to }
