package indexer

import (
	"sync/atomic"
	"unsafe"
)

// Get reads objects while a write may be changing them, and looks at the stripe's
// sequence number afterwards to know whether it read one moment. So both sides
// access the two words of an interface atomically, one by one, and Get puts them
// together only when it knows that they belong together. (sync/atomic's Value
// reads interfaces in the same way.)

// anyWords is the memory of an interface without methods.
type anyWords struct{ typ, data unsafe.Pointer }

func loadAny(p *any) anyWords {
	w := (*anyWords)(unsafe.Pointer(p))
	return anyWords{atomic.LoadPointer(&w.typ), atomic.LoadPointer(&w.data)}
}

// value is the interface, once the words are known to belong together.
func (w anyWords) value() any { return *(*any)(unsafe.Pointer(&w)) }

// sameType is whether obj can replace *p by one word, so that whoever reads both
// words gets one object or the other.
func sameType(p *any, obj any) bool {
	return (*anyWords)(unsafe.Pointer(p)).typ == (*anyWords)(unsafe.Pointer(&obj)).typ
}

func storeAny(p *any, obj any) {
	to, from := (*anyWords)(unsafe.Pointer(p)), (*anyWords)(unsafe.Pointer(&obj))
	if to.typ != from.typ {
		atomic.StorePointer(&to.typ, from.typ)
	}
	atomic.StorePointer(&to.data, from.data)
}

// clearAny lets go of what *p holds, but not of its type: of an object that comes
// after it, mostly of the same type, one word is to be stored.
func clearAny(p *any) { atomic.StorePointer(&(*anyWords)(unsafe.Pointer(p)).data, nil) }

// setWord stores w for readers beside the writer, unless it is there already: an
// atomic store takes as long as some twenty other instructions.
func setWord(p *uint64, w uint64) {
	if *p != w {
		atomic.StoreUint64(p, w)
	}
}

func loadPointer[T any](p **T) *T {
	return (*T)(atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(p))))
}

func storePointer[T any](p **T, t *T) {
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(p)), unsafe.Pointer(t))
}

// touch reads the first word of what p points to. The compiler drops no atomic
// read.
func touch[T any](p *T) { _ = atomic.LoadUintptr((*uintptr)(unsafe.Pointer(p))) }
