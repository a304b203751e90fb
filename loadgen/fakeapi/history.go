package fakeapi

import (
	"sort"

	"k8s.io/apimachinery/pkg/watch"
)

// A history is what happened, by position. It grows and forgets by chunks:
// nothing is moved, and no large allocation holds up the events.
type history struct {
	chunks     [][]entry // the first one holds position begin
	begin, end uint64    // positions
}

type entry struct {
	version uint64 // never below its predecessor's
	event   watch.Event
}

const chunk = 512 // entries

func (h *history) len() int { return int(h.end - h.begin) }

func (h *history) at(position uint64) *entry {
	return &h.chunks[position/chunk-h.begin/chunk][position%chunk]
}

func (h *history) append(e entry) {
	if h.end%chunk == 0 {
		h.chunks = append(h.chunks, make([]entry, chunk))
	}
	h.end++
	*h.at(h.end - 1) = e
}

// trim forgets what is before a position.
func (h *history) trim(position uint64) {
	for h.begin/chunk < position/chunk {
		h.chunks[0] = nil
		h.chunks = h.chunks[1:]
		h.begin = (h.begin/chunk + 1) * chunk
	}
	if h.begin < position {
		clear(h.chunks[0][h.begin%chunk : position%chunk]) // lets go of the objects
		h.begin = position
	}
}

// after returns the position of the first event after a resource version.
func (h *history) after(version uint64) uint64 {
	return h.begin + uint64(sort.Search(h.len(), func(i int) bool { return h.at(h.begin+uint64(i)).version > version }))
}
