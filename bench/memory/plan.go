package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/informerbench/informerbench/bench/memory/feed"
	paths "github.com/informerbench/informerbench/bench/memory/fields"
	"github.com/informerbench/informerbench/bench/memory/input"
)

// A Problem is what to find out.
type Problem struct {
	Set      *input.Set
	Objects  int // to predict for; 0 for as many as the set has
	Load     Load
	Measured int // the most objects to run with
	Repeats  int
	Seed     uint64

	Drop       []string // further paths to try without
	Annotation []string // further annotations to try without
	Selector   string   // labels to try with
	Field      string   // fields to try with
	Shards     int      // to try with; 0 for none

	// Sample runs a job in a fresh process.
	Sample Sampler
	// Progress hears of each sample before it is taken; nil for nobody.
	Progress func(doing string, done, of int)
}

// What is planned where the user says nothing else.
const (
	mostAnnotations    = 2    // tried one by one, the largest first
	largeAnnotation    = 0.03 // share of the objects' JSON from which on one is tried
	mostParts          = 5    // of an object beside its metadata
	namespacesTried    = 50   // at most, for an informer each
	managedFieldsPath  = "metadata.managedFields"
	annotationsPath    = "metadata.annotations"
	lastAppliedKey     = "kubectl.kubernetes.io/last-applied-configuration"
	defaultLimitFactor = 1.25 // of what lives and what the runtime takes: the memory limit that is tried
)

// An arm is one thing that is measured over and over.
type arm struct {
	name    string
	how     string
	asks    string
	part    string // the part that it takes away, "" for none
	within  string // of the part
	setting bool
	change  bool
	objects int
	job     child.Job
	limit   func(objects float64) int64 // of memory; nil for none
	feed    feed.Options
	kinds   []feed.Kind
	dropped []string // by a transform that can be printed
	intern  bool

	readings map[int]child.Reading // by round
}

// kinds shares n objects among the set's kinds.
func (p Problem) kinds(n int) []feed.Kind {
	total := p.Set.Objects()
	var all []feed.Kind
	given := 0
	for i, k := range p.Set.Kinds {
		count := max(1, int(float64(k.Count)/float64(total)*float64(n)+0.5))
		if i == len(p.Set.Kinds)-1 && n > given {
			count = n - given
		}
		given += count
		all = append(all, feed.Kind{GroupVersionKind: k.GroupVersionKind, Resource: k.Resource, Namespaced: k.Namespaced, Sample: k.Sample, Count: count})
	}
	return all
}

func (p Problem) job() child.Job {
	j := child.Job{Form: p.Load.Form, Encoding: p.Load.Encoding, List: p.Load.List, Informer: p.Load.Informer, Indices: p.Load.Indices, Handlers: p.Load.Handlers}
	for _, k := range p.Set.Kinds {
		j.Kinds = append(j.Kinds, child.Kind{Group: k.Group, Version: k.Version, Kind: k.Kind, Resource: k.Resource})
	}
	return j
}

func (p Problem) arm(n int, name string) *arm {
	return &arm{name: name, objects: n, job: p.job(), kinds: p.kinds(n), feed: feed.Options{Paged: p.Load.List == "pages"}, readings: map[int]child.Reading{}}
}

// parts are the arms that lack a part of the objects.
func (p Problem) parts(n int) (arms []*arm) {
	names := []string{managedFieldsPath, annotationsPath, "metadata.labels", "metadata.ownerReferences"}
	if p.Load.Form != child.Metadata {
		names = append(names, p.largest()...)
	}
	present := p.present()
	for _, name := range names {
		path, err := paths.Parse(name)
		if !present[name] || err != nil { // a custom resource may have names that no path can have
			continue
		}
		a := p.arm(n, "without "+name)
		a.part, a.job.StartOnly = name, true
		a.feed.Remove = []paths.Path{path}
		arms = append(arms, a)
	}
	for _, index := range p.Load.Indices {
		a := p.arm(n, "without index "+index)
		a.part, a.within, a.job.StartOnly = "index "+index, "stores, indices and handlers", true
		a.job.Indices = slices.DeleteFunc(slices.Clone(a.job.Indices), func(other string) bool { return other == index })
		arms = append(arms, a)
	}
	if p.Load.Handlers > 0 {
		a := p.arm(n, "with handlers that stand still")
		a.part, a.within = "backlog of a handler that stands still", "only while it does"
		a.job.Blocked = true
		arms = append(arms, a)
	}
	return arms
}

// changes are the what-ifs.
func (p Problem) changes(n int) (arms []*arm, err error) {
	add := func(name, how, asks string, change func(*arm)) {
		a := p.arm(n, name)
		a.how, a.asks, a.change = how, asks, true
		change(a)
		arms = append(arms, a)
	}
	drop := func(name, asks string, path string) {
		add(name, "SetTransform takes "+path+" out of each object", asks, func(a *arm) { a.job.Drop, a.dropped = []string{path}, []string{path} })
	}
	present := p.present()
	if present[managedFieldsPath] {
		drop("strip managedFields", "", managedFieldsPath)
		notSent, err := paths.ParseAll(managedFieldsPath)
		if err != nil {
			return nil, err
		}
		add("managedFields not sent", "the server leaves them out (KEP-5958), where it can", "a server that can", func(a *arm) {
			a.feed.Remove = notSent
		})
	}
	for _, key := range p.annotations() {
		asks := "a program that does not read it"
		if key == lastAppliedKey {
			asks = ""
		}
		path := annotationsPath + "[" + key + "]"
		if _, err := paths.Parse(path); err != nil {
			if slices.Contains(p.Annotation, key) {
				return nil, fmt.Errorf("--annotation: %w", err)
			}
			continue // no API server takes such a key
		}
		drop("strip annotation "+key, asks, path)
	}
	for _, path := range p.Drop {
		if _, err := paths.Parse(path); err != nil {
			return nil, fmt.Errorf("--drop: %w", err)
		}
		drop("strip "+path, "a program that does not read it", path)
	}
	if p.Load.Form != child.Metadata {
		add("metadata only", "an informer of PartialObjectMetadata", "a program that reads only metadata", func(a *arm) {
			a.job.Form, a.job.Encoding = child.Metadata, "protobuf"
		})
	}
	add("intern strings", "SetTransform makes equal strings one", "", func(a *arm) { a.job.Intern, a.intern = true, true })
	if err := p.selections(n, add); err != nil {
		return nil, err
	}
	p.programChanges(add)
	slices.SortStableFunc(arms, func(a, b *arm) int { return strings.Compare(a.name, b.name) })
	return arms, nil
}

// programChanges are what-ifs of how the program holds and lists.
func (p Problem) programChanges(add func(name, how, asks string, change func(*arm))) {
	if p.Load.Informer == "client-go" {
		add("informer snapshot", "impl/informer instead of client-go's", "", func(a *arm) { a.job.Informer = "snapshot" })
	}
	for _, index := range p.Load.Indices {
		add("no index "+index, "the index is not registered", "a program that does not look up by it", func(a *arm) {
			a.job.Indices = slices.DeleteFunc(slices.Clone(a.job.Indices), func(other string) bool { return other == index })
		})
	}
	if p.Load.Handlers > 0 {
		add("resync", "handlers are told of every object now and then (ResyncPeriod)", "a program that wants it", func(a *arm) { a.job.Resync = true })
	}
	if p.Load.Handlers > 1 {
		add("one handler", "one event handler that hands on to the others", "handlers that may wait for each other", func(a *arm) { a.job.Handlers = 1 })
	}
	for _, other := range []string{"protobuf", "json"} {
		if other != p.Load.Encoding && p.Load.Form == child.Typed && p.known() {
			add("encoding "+other, "the client asks for it (rest.Config.ContentType)", "", func(a *arm) { a.job.Encoding = other })
		}
	}
	for list, how := range map[string]string{"watchlist": "the list is streamed (client-go's WatchListClient)", "list": "one answer for the whole list"} {
		if list != p.Load.List {
			add("lists by "+list, how, "", func(a *arm) { a.job.List, a.feed.Paged = list, false })
		}
	}
}

// settings are what-ifs of Go's collector, for a process that takes so much and so much
// more for each object.
func (p Problem) settings(n int, base, each float64) (arms []*arm) {
	add := func(name string) *arm {
		a := p.arm(n, name)
		a.setting = true
		arms = append(arms, a)
		return a
	}
	add("GOGC=50").job.GOGC = 50
	add("GOGC=200").job.GOGC = 200
	add("GOMEMLIMIT").limit = func(objects float64) int64 { return int64((base + each*objects) * defaultLimitFactor) }
	return arms
}

// known says whether client-go has types, and so protobuf, for all kinds.
func (p Problem) known() bool {
	return !slices.ContainsFunc(p.Set.Kinds, func(k *input.Kind) bool { return !typed(k) })
}
