//go:build !amd64 || !gc || race

package indexer

import (
	"sync/atomic"
	"unsafe"
)

// store32 and store64 store w for readers beside the writer.
func store32(p *uint32, w uint32) { atomic.StoreUint32(p, w) }
func store64(p *uint64, w uint64) { atomic.StoreUint64(p, w) }

// storeAddress stores a pointer for them.
func storeAddress(p *unsafe.Pointer, to unsafe.Pointer) { atomic.StorePointer(p, to) }
