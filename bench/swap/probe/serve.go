package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"
)

// A Cache is what an informer or indexer holds.
type Cache struct {
	Synced  bool   `json:"synced"`
	Objects int    `json:"objects"`
	Keys    string `json:"keys"` // a hash of the keys, whatever their order
}

// A State is what a program tells of itself.
type State struct {
	Arm        string        `json:"arm"`
	Things     []Thing       `json:"things"`
	Busy       bool          `json:"busy"`   // a queue holds something, or a worker does
	Synced     bool          `json:"synced"` // every informer has its initial list
	CPU        time.Duration `json:"cpuNanoseconds"`
	GCCPU      time.Duration `json:"gcCPUNanoseconds"`
	PeakRSS    int64         `json:"peakRSSBytes"`
	Heap       uint64        `json:"heapBytes"`
	Allocs     uint64        `json:"allocs"`
	Bytes      uint64        `json:"allocatedBytes"`
	Collects   uint64        `json:"collections"`
	Goroutines int           `json:"goroutines"`
}

// Serve answers on the socket, if there is one, until the program ends.
func Serve() {
	path := os.Getenv(SocketVariable)
	if path == "" {
		return
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "informerbench probe:", err)
		os.Exit(2)
	}
	mux := http.NewServeMux() // the default one is the program's
	mux.HandleFunc("/state", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(state(r.URL.Query().Has("end")))
	})
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) { reset() })
	var profile bytes.Buffer
	mux.HandleFunc("/cpu/start", func(w http.ResponseWriter, _ *http.Request) {
		if err := pprof.StartCPUProfile(&profile); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	mux.HandleFunc("/cpu/stop", func(w http.ResponseWriter, _ *http.Request) {
		pprof.StopCPUProfile()
		_, _ = w.Write(profile.Bytes())
	})
	mux.HandleFunc("/allocs", func(w http.ResponseWriter, _ *http.Request) {
		runtime.GC() // which the profile is as of
		_ = pprof.Lookup("allocs").WriteTo(w, 0)
	})
	go func() { _ = http.Serve(l, mux) }() // for as long as the program lives
}

func reset() {
	things.Lock()
	defer things.Unlock()
	for _, t := range things.made {
		if t.measured != nil {
			t.measured.reset()
		}
	}
}

// state is the program's; at the end, when time does not matter any more, with what
// caches hold and how much of the heap is in use.
func state(end bool) State {
	things.Lock()
	made := make([]*Thing, len(things.made))
	copy(made, things.made)
	things.Unlock()
	s := State{Arm: os.Getenv(ArmVariable), Synced: true}
	for _, t := range made {
		things.Lock()
		shown, synced, list := *t, t.synced, t.keys
		things.Unlock()
		if synced != nil {
			shown.Cache = &Cache{Synced: synced()}
			s.Synced = s.Synced && shown.Cache.Synced
			if end {
				shown.Cache.Objects, shown.Cache.Keys = digest(list())
			}
		}
		if shown.measured != nil {
			traffic := shown.measured.traffic()
			shown.Queue = &traffic
			s.Busy = s.Busy || shown.measured.busy()
		}
		s.Things = append(s.Things, shown)
	}
	s.measure()
	if end {
		runtime.GC()
		s.Heap = heap()
	}
	return s
}

func digest(keys []string) (int, string) {
	slices.Sort(keys)
	h := fnv.New64a()
	for _, k := range keys {
		_, _ = io.WriteString(h, k+"\n")
	}
	return len(keys), strconv.FormatUint(h.Sum64(), 16)
}
