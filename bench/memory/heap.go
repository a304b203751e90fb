package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/bench/experiment"
)

// A Heap is what a heap profile of a real process holds.
type Heap struct {
	InUse  int64      `json:"inUse"`  // bytes
	Caches int64      `json:"caches"` // of them, what informers hold
	Groups []HeapPart `json:"groups"` // that make up InUse, the largest first
}

// A HeapPart is one share of a heap profile.
type HeapPart struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// cacheParts say what a stack is for, by a piece of a function's name. The first one
// that a stack has decides.
var cacheParts = []struct{ function, name string }{
	{".(*ManagedFieldsEntry)", "objects: managedFields"},
	{".(*FieldsV1)", "objects: managedFields"},
	{"cache.(*threadSafeMap)", "stores and indices"},
	{"cache.(*storeIndex)", "stores and indices"},
	{"impl/indexer.", "stores and indices"},
	{"cache.(*processorListener)", "backlog of handlers"},
	{"buffer.(*RingGrowing)", "backlog of handlers"},
	{"cache.(*RealFIFO)", "FIFO"},
	{"cache.(*DeltaFIFO)", "FIFO"},
	{"impl/fifo.", "FIFO"},
	{"unstructured.", "objects: unstructured"},
	{".(*PartialObjectMetadata)", "objects: metadata only"},
}

// reflectorParts are on the stacks of what lists and watches have decoded.
var reflectorParts = []string{"cache.(*Reflector)", "watch.(*StreamWatcher)", "rest/watch.(*Decoder)", "rest.(*Request)", "rest.Result.Into", "rest.(*Result)", "tools/pager."}

// maxHeap is what a heap profile unpacks to at most. That of a process of a hundred
// gigabytes has some tens of megabytes.
const maxHeap = 128 << 20

// ReadHeap reads a heap profile as Go's /debug/pprof/heap writes it.
func ReadHeap(r io.Reader) (*Heap, error) {
	data, err := experiment.Unpack(r, maxHeap)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("found no profile (%w), expected what /debug/pprof/heap writes", err)
	}
	index := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == "inuse_space" })
	if index < 0 {
		return nil, errors.New("found a profile of something else, expected one of the heap (inuse_space)")
	}
	groups := map[string]int64{}
	h := &Heap{}
	for _, s := range p.Sample {
		bytes := s.Value[index]
		name, cached := classify(s)
		h.InUse += bytes
		groups[name] += bytes
		if cached {
			h.Caches += bytes
		}
	}
	for name, bytes := range groups {
		h.Groups = append(h.Groups, HeapPart{name, bytes})
	}
	slices.SortFunc(h.Groups, func(a, b HeapPart) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name)) })
	return h, nil
}

// classify says what a stack's memory is for, and whether it belongs to a cache.
func classify(s *profile.Sample) (name string, cached bool) {
	var frames []string // from the allocation outwards
	for _, l := range s.Location {
		for _, f := range l.Line {
			if f.Function != nil {
				frames = append(frames, f.Function.Name)
			}
		}
	}
	has := func(part string) bool {
		return slices.ContainsFunc(frames, func(f string) bool { return strings.Contains(f, part) })
	}
	reflected := slices.ContainsFunc(reflectorParts, has)
	for _, part := range cacheParts {
		if has(part.function) && (reflected || !strings.HasPrefix(part.name, "objects")) {
			return part.name, true
		}
	}
	if !reflected {
		return "not of caches", false
	}
	for _, f := range slices.Backward(frames) { // the outermost type that is decoded
		if _, rest, ok := strings.Cut(f, "k8s.io/api/"); ok {
			if _, method, ok := strings.Cut(rest, ".(*"); ok {
				kind, _, _ := strings.Cut(method, ")")
				if kind = strings.TrimSuffix(kind, "List"); kind != "" {
					return "objects: " + kind, true
				}
			}
		}
	}
	return "objects and buffers of lists and watches", true
}
