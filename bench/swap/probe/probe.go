// Package probe is compiled into a program that is measured: client-go's hooks
// report to it what they make, and benchrun asks it over a socket.
//
//  1. Swaps says which constructors the arm replaces.
//  2. Made notes each thing that is made; the hooks count its traffic.
//  3. Serve answers with the program's State, resets counters when the load begins,
//     and takes profiles.
//
// It imports the standard library alone, because client-go imports it.
package probe

import (
	"os"
	"slices"
	"strings"
	"sync"
)

// Variables that a measured program is started with.
const (
	ArmVariable    = "INFORMERBENCH_ARM"    // "client-go", or what Arms lists
	SocketVariable = "INFORMERBENCH_SOCKET" // where Serve listens; unset for no probe
)

// Parts that an arm replaces.
const (
	Queues    = "queues"
	Informers = "informers"
	Outside   = "outside" // the containers within client-go's queues and caches, by others' than ours
)

// Arms lists the parts that each arm replaces.
var Arms = map[string][]string{
	"client-go": nil,
	"library":   {Queues, Informers},
	Queues:      {Queues},
	Informers:   {Informers},
	Outside:     {Outside},
}

var swapped = Arms[os.Getenv(ArmVariable)]

// Swaps reports whether this process replaces a part.
func Swaps(part string) bool { return slices.Contains(swapped, part) }

// How a thing was made.
const (
	Kept    = "client-go's" // by this arm, or for want of a way to replace it
	Swapped = "swapped"
	Adapted = "swapped, keys as any" // the key's type can't be named where the hook is
)

// A Thing is a queue, an informer or an indexer that a constructor made.
type Thing struct {
	Constructor string   `json:"constructor"`
	Name        string   `json:"name"` // of the queue, or the type of the objects
	Key         string   `json:"key,omitempty"`
	How         string   `json:"how"`
	Queue       *Traffic `json:"queue,omitempty"`
	Cache       *Cache   `json:"cache,omitempty"`

	measured *Queue
	synced   func() bool
	keys     func() []string
}

var things struct {
	sync.Mutex
	made []*Thing
}

// Made notes a thing; what measures it follows before its constructor returns.
func Made(constructor, name, key string) *Thing {
	t := &Thing{Constructor: constructor, Name: name, Key: strings.ReplaceAll(key, "interface {}", "any"), How: Kept}
	things.Lock()
	defer things.Unlock()
	things.made = append(things.made, t)
	return t
}

// MeasureQueue gives a queue counters, once.
func (t *Thing) MeasureQueue() *Queue {
	things.Lock()
	defer things.Unlock()
	if t.measured == nil {
		t.measured = &Queue{}
	}
	return t.measured
}

// WatchCache says how to ask a cache whether it is complete and what it holds.
func (t *Thing) WatchCache(synced func() bool, keys func() []string) {
	things.Lock()
	defer things.Unlock()
	t.synced, t.keys = synced, keys
}

// SetHow notes how the thing was made.
func (t *Thing) SetHow(how string) {
	things.Lock()
	defer things.Unlock()
	t.How = how
}
