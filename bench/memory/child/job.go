// Package child is the program that is measured: it runs real informers on a server
// of package feed and reads what its memory does. Its steps:
//
//  1. [Run] takes a [Job], makes clients as a controller does (clients.go), and
//     reads what the program takes without objects.
//  2. It starts the informers and samples heap and resident set until all lists
//     are in the stores and with the handlers: the start.
//  3. It collects garbage and reads what lives: the rest.
//  4. The server changes objects until the collector has run a few times: the
//     service. The server ends all watches: the relist. Where the job asks for it,
//     handlers are told of every object again: the resync.
//  5. The informers are let go, the objects kept: what lives now is the objects
//     alone, the difference is stores, indices and handlers.
//
// It is started afresh for each sample. Peaks of the resident set come from /proc
// and are zero on systems without it.
package child

import "time"

// Forms in which objects are held.
const (
	Typed        = "typed"
	Unstructured = "unstructured"
	Metadata     = "metadata"
)

// A Job is what to measure.
type Job struct {
	Server   string `json:"server"` // its URL
	Kinds    []Kind `json:"kinds"`
	Form     string `json:"form"`     // typed, unstructured, metadata
	Encoding string `json:"encoding"` // json, protobuf, cbor
	List     string `json:"list"`     // watchlist, list, pages
	Informer string `json:"informer"` // of the catalogue
	// Indices are namespace, owner or label:KEY.
	Indices   []string `json:"indices"`
	Handlers  int      `json:"handlers"`            // of each informer
	Blocked   bool     `json:"blocked,omitempty"`   // handlers stand still until all is in the stores
	Drop      []string `json:"drop,omitempty"`      // paths that a transform takes out
	Intern    bool     `json:"intern,omitempty"`    // a transform interns strings
	GOGC      int      `json:"gogc,omitempty"`      // 0 for 100
	Limit     int64    `json:"limit,omitempty"`     // of memory, as GOMEMLIMIT; 0 for none
	StartOnly bool     `json:"startOnly,omitempty"` // no service and no relist
	Resync    bool     `json:"resync,omitempty"`    // informers resync now and then
}

// A Kind is one informer, or one for each namespace.
type Kind struct {
	Group, Version, Kind, Resource string
	Namespaces                     []string `json:",omitempty"` // an informer for each; none for one of all
}

// A Phase is what happened between two moments.
type Phase struct {
	Heap     uint64        `json:"heap"`     // most bytes of objects, dead ones included
	Resident uint64        `json:"resident"` // most bytes of the resident set
	CPU      time.Duration `json:"cpu"`
	Took     time.Duration `json:"took"`
	Events   int64         `json:"events,omitempty"` // that handlers were told of, all together
}

// A Reading is what a job measured.
type Reading struct {
	Objects      int      `json:"objects"`      // in the stores
	BaseHeap     uint64   `json:"baseHeap"`     // live bytes before the informers
	BaseResident uint64   `json:"baseResident"` // resident set before them
	BaseGo       uint64   `json:"baseGo"`       // what GOMEMLIMIT counts, before them
	Live         uint64   `json:"live"`         // live bytes with everything in the stores
	Bare         uint64   `json:"bare"`         // live bytes with the objects but no informers
	Start        Phase    `json:"start"`
	Service      Phase    `json:"service"`
	Relist       Phase    `json:"relist"`
	Resync       Phase    `json:"resync"`   // only of a job that asks for it
	Timeline     []Moment `json:"timeline"` // of the start
}

// A Moment is one of the start.
type Moment struct {
	At       time.Duration `json:"at"`
	Heap     uint64        `json:"heap"`
	Resident uint64        `json:"resident"`
}
