package memory

import (
	"time"

	"github.com/informerbench/informerbench/bench/memory/child"
)

// SchemaVersion is that of memory.json; package schema describes it.
const SchemaVersion = 1

// A Figure is a mean, and the interval that 90% of repeats fall into. Without
// repeats all three are the same.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// A Load is what is held and how.
type Load struct {
	Form     string   `json:"form"`
	Encoding string   `json:"encoding"`
	List     string   `json:"list"`
	Informer string   `json:"informer"`
	Indices  []string `json:"indices"`
	Handlers int      `json:"handlers"`
}

// A Kind is one of those that were given.
type Kind struct {
	Name       string  `json:"name"`
	APIVersion string  `json:"apiVersion"`
	Objects    int     `json:"objects"`
	MeanJSON   float64 `json:"meanJson"` // bytes of an object
	Sample     int     `json:"sample"`
	Form       string  `json:"form"` // in which it is held
}

// A Usage is what a process with that many objects takes, itself included. Resident
// sets are what a container's working set consists of; peaks are the most in a phase.
type Usage struct {
	Objects  int    `json:"objects"`
	Measured bool   `json:"measured"` // or else extrapolated
	Live     Figure `json:"live"`     // bytes that live at rest
	// Start is from nothing until all lists are with the handlers, Service while
	// objects change, Relist while all lists come again.
	StartHeap       Figure `json:"startHeap"`
	StartResident   Figure `json:"startResident"`
	ServiceResident Figure `json:"serviceResident"`
	RelistResident  Figure `json:"relistResident"`
	StartCPU        Figure `json:"startCpu"` // seconds
	Peak            Figure `json:"peak"`     // the most of the three resident sets
}

// A Part is where bytes of an object are.
type Part struct {
	Name  string `json:"name"`
	Bytes Figure `json:"bytes"` // of an object
	// Within says that it is counted in another part already, or comes only at times.
	Within string `json:"within,omitempty"`
}

// A Saving is what a change of how objects are held would save, in shares of what they
// cost now; figures below zero say that it costs more. Those of peaks are of as many
// objects as are predicted for.
type Saving struct {
	Name    string `json:"name"`
	How     string `json:"how"`
	Asks    string `json:"asks,omitempty"` // what has to be true of the program; "" for nothing
	Objects int    `json:"objects"`        // that it was measured with, before a selection
	Bytes   Figure `json:"bytes"`          // live bytes an object that it saves
	Live    Figure `json:"live"`
	Peak    Figure `json:"peak"` // of start, service and relist
	Start   Figure `json:"startPeak"`
	CPU     Figure `json:"cpu"` // of a start
	Advised bool   `json:"advised"`
}

// A Setting is one of Go's collector, and what it costs.
type Setting struct {
	Name     string `json:"name"`
	GOGC     int    `json:"gogc"`
	MemLimit int64  `json:"memLimit,omitempty"` // bytes, with the objects of the measurement
	Peak     Figure `json:"peak"`               // relative to GOGC=100
	Service  Figure `json:"service"`            // resident set in service, relative to it
	CPU      Figure `json:"cpu"`                // of start, service and relist, relative to it
}

// An Advice is what to write into a manifest, in bytes.
type Advice struct {
	Request    int64  `json:"request"`
	Limit      int64  `json:"limit"`
	GOMEMLIMIT int64  `json:"gomemlimit"`
	GOGC       int    `json:"gogc"`
	Why        string `json:"why"`
}

// A Transform is Go code to paste.
type Transform struct {
	Kind string `json:"kind"`
	Code string `json:"code"`
}

// A Result is all that was found.
type Result struct {
	Schema     int            `json:"schema"`
	Source     string         `json:"source"`
	Summary    string         `json:"summary"` // the one or two changes to make
	Objects    int            `json:"objects"` // that are predicted for
	Load       Load           `json:"load"`
	Kinds      []Kind         `json:"kinds"`
	BaseHeap   Figure         `json:"baseHeap"`     // live bytes of the process without objects
	BaseRSS    Figure         `json:"baseResident"` // its resident set
	Prediction Usage          `json:"prediction"`
	Sizes      []Usage        `json:"sizes"`
	PerObject  Figure         `json:"perObject"` // live bytes, by the slope over the sizes
	Parts      []Part         `json:"parts"`
	Changes    []Saving       `json:"changes"`
	Settings   []Setting      `json:"settings"`
	Advice     Advice         `json:"advice"`
	Transforms []Transform    `json:"transforms"`
	Timeline   []child.Moment `json:"timeline"` // of a start with the most objects measured
	Heap       *Heap          `json:"heap"`     // of the user's process; null without a profile
	Warnings   []string       `json:"warnings"`
	Repeats    int            `json:"repeats"`
	Seed       uint64         `json:"seed"`
	Took       time.Duration  `json:"took"`
	Stopped    string         `json:"stopped"` // done or interrupted
}
