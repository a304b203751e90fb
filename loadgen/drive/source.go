package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/cputime"
	"github.com/informerbench/informerbench/loadgen/fakeapi"
	"github.com/informerbench/informerbench/loadgen/trace"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// A source is where the load comes from: a workload or a recording.
type source struct {
	names []string         // of the resources
	types []loadgen.Object // an empty object of each
	// open begins the load anew.
	open func() (iter.Seq2[int, loadgen.Object], loadgen.Stream, error)

	perEvent time.Duration // CPU time to make or read one, measured without a consumer
	cut      error         // where the recording was cut short
	warnings []error       // about the recording
}

// The load runs into nothing beforehand, to know its cost: for so long and for
// so many events at most.
const (
	selfTestTime   = 100 * time.Millisecond
	selfTestEvents = 100_000
)

// The pacing is tried beforehand, too.
const (
	pacedEvents   = 2_000
	pacedDistance = 100 * time.Microsecond
)

// ofSpec is the load of a workload.
func ofSpec(spec *loadgen.Spec) (*source, error) {
	s := &source{open: func() (iter.Seq2[int, loadgen.Object], loadgen.Stream, error) {
		g, err := spec.Generator()
		if err != nil {
			return nil, nil, err
		}
		return g.Population(), g, nil
	}}
	for _, r := range spec.Resources {
		s.names = append(s.names, r.Name)
	}
	g, err := spec.Generator()
	if err != nil {
		return nil, err
	}
	s.types = g.Types()
	begin, cpu, events := time.Now(), cputime.Process(), 0
	for ; events < selfTestEvents && time.Since(begin) < selfTestTime; events++ {
		_, err := g.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	s.perEvent = (cputime.Process() - cpu) / time.Duration(max(events, 1))
	return s, nil
}

// ofTrace is the load of a recording, of which as much is read beforehand as the
// drive will play: it tells which resources there are.
func ofTrace(open func() (loadgen.Stream, error), playing time.Duration) (*source, error) {
	s := &source{}
	kinds := map[schema.GroupVersionKind]int{}
	stream, err := open()
	if err != nil {
		return nil, err
	}
	defer closeStream(stream)
	of := ""
	if named, ok := stream.(interface{ Name() string }); ok {
		of = named.Name() + ": "
	}
	cpu, events, unversioned := cputime.Process(), 0, 0
	for {
		e, err := stream.Next()
		if errors.Is(err, io.EOF) || err == nil && playing > 0 && e.At > playing {
			break
		}
		if err != nil {
			return nil, err
		}
		if e.Type == watch.Bookmark {
			continue
		}
		events++
		if e.Object.GetResourceVersion() == "" {
			unversioned++
		}
		kind := e.Object.GetObjectKind().GroupVersionKind()
		if _, ok := kinds[kind]; !ok {
			for other := range kinds {
				if other.GroupKind() == kind.GroupKind() {
					return nil, fmt.Errorf("%sfound %s of version %s after %s, expected one version of a resource: an informer watches one", of, kind.Kind, kind.Version, other.Version)
				}
			}
			kinds[kind] = len(kinds)
			plural, _ := trace.ResourceOf(kind)
			name := plural.Resource
			if slices.Contains(s.names, name) { // events are of two groups
				name = plural.String()
			}
			s.names = append(s.names, name)
			s.types = append(s.types, emptied(e.Object))
		}
	}
	if events == 0 {
		return nil, errors.New(of + "no events but bookmarks, expected at least one")
	}
	if c, ok := stream.(interface{ Cut() error }); ok {
		s.cut = c.Cut()
	}
	if w, ok := stream.(interface{ Warnings() []error }); ok {
		s.warnings = w.Warnings()
	}
	if unversioned > 0 {
		s.warnings = append(s.warnings, fmt.Errorf("of %d events, %d have an object without metadata.resourceVersion: each is given one that is no number", events, unversioned))
	}
	s.perEvent = (cputime.Process() - cpu) / time.Duration(events)
	s.open = func() (iter.Seq2[int, loadgen.Object], loadgen.Stream, error) {
		stream, err := open()
		return nil, &byKind{Stream: stream, kinds: kinds}, err
	}
	return s, nil
}

// emptied is an object of the same type and kind with nothing in it.
func emptied(object loadgen.Object) loadgen.Object {
	empty := reflect.New(reflect.TypeOf(object).Elem()).Interface().(loadgen.Object)
	empty.GetObjectKind().SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	return empty
}

// Recorded returns a spec for a recording: what the controller and the readers
// do may be set in it, the load is the recording's.
func Recorded(name string) *loadgen.Spec {
	return &loadgen.Spec{Name: name, Resources: []loadgen.Resource{{Kind: "pod", Count: 1, Events: loadgen.Events{Mix: loadgen.Mix{Update: 1}, Count: 1}}}}
}

// byKind tells the resources of a recording apart, and gives versions to objects without:
// an event is told from the next one, and a change from a resync, by them alone.
type byKind struct {
	loadgen.Stream
	kinds       map[schema.GroupVersionKind]int
	unversioned int // so far
}

func (s *byKind) Next() (loadgen.Event, error) {
	e, err := s.Stream.Next()
	if err != nil || e.Type == watch.Bookmark {
		return e, err
	}
	i, ok := s.kinds[e.Object.GetObjectKind().GroupVersionKind()]
	if !ok {
		return e, fmt.Errorf("found a %s that was not in the recording before", e.Object.GetObjectKind().GroupVersionKind().Kind)
	}
	e.Resource = i
	if e.Object.GetResourceVersion() == "" {
		s.unversioned++
		e.Object.SetResourceVersion(fmt.Sprintf("unversioned-%d", s.unversioned)) // as opaque as any
	}
	return e, nil
}

func (s *byKind) Close() error { closeStream(s.Stream); return nil }

func closeStream(s loadgen.Stream) {
	if c, ok := s.(io.Closer); ok {
		c.Close()
	}
}

// paced is a stream at another speed, cut off after a duration.
type paced struct {
	loadgen.Stream
	speed    float64 // 0 is as fast as possible
	duration time.Duration
	now      func() time.Duration
	cut      bool          // the duration ended it
	last     time.Duration // when the last event was due
}

// unpaced reports that all events were due at once.
func (s *paced) unpaced() bool { return s.last == 0 }

func (s *paced) Next() (loadgen.Event, error) {
	e, err := s.Stream.Next()
	if err != nil {
		return e, err
	}
	if s.speed > 0 {
		e.At = time.Duration(float64(e.At) / s.speed)
	} else {
		e.At = 0
	}
	if s.duration > 0 && (e.At > s.duration || e.At == 0 && s.now() > s.duration) {
		s.cut = true
		return e, io.EOF
	}
	s.last = e.At
	return e, nil
}

// serve makes the API server that holds the load, and the informers on it, and says
// that the drive is ready.
func (d *drive) serve() error {
	population, stream, err := d.source.open()
	if err != nil {
		return err
	}
	d.stream = &paced{Stream: stream, speed: d.config.Speed, duration: d.config.Duration, now: d.now}
	d.resources = make([]*resource, len(d.source.names))
	for i, name := range d.source.names {
		d.resources[i] = &resource{name: name}
		d.c.resources[name] = d.resources[i]
	}
	d.server, err = fakeapi.New(fakeapi.Config{
		Population: d.entered(population), Stream: d.stream, Types: d.source.types,
		Faults: d.spec.Faults, Seed: d.spec.Seed, Pacer: d.pacer,
		Due: func(e loadgen.Event, due time.Time) {
			r, rv := d.resources[e.Resource], e.Object.GetResourceVersion()
			d.ledger.send(nameOf(r, e.Object), version{rv: rv, gone: e.Type == watch.Deleted}, d.at(due))
			if d.own != nil {
				d.own.written(r, rv, d.at(due))
			}
		},
	})
	if err != nil {
		return err
	}
	nodes := false
	for i, r := range d.resources {
		if d.config.TwoQueues && isNode(d.source.types[i]) {
			r.plain, nodes = true, true
		}
		if err := d.watchFor(r, d.server.ListerWatcher(i), d.source.types[i]); err != nil {
			return err
		}
	}
	if d.config.TwoQueues && !nodes {
		return errors.New("two queues are for pods and nodes, and the load has no nodes")
	}
	if d.config.Ready == nil {
		return nil
	}
	return d.config.Ready()
}

func isNode(object loadgen.Object) bool {
	_, typed := object.(*corev1.Node)
	return typed || object.GetObjectKind().GroupVersionKind().Kind == "Node"
}

// entered opens the accounts of the initial population as it is listed.
func (d *drive) entered(population iter.Seq2[int, loadgen.Object]) iter.Seq2[int, loadgen.Object] {
	if population == nil {
		return nil
	}
	return func(yield func(int, loadgen.Object) bool) {
		for i, object := range population {
			n := nameOf(d.resources[i], object)
			if d.config.ColdStart {
				d.ledger.enter(n, entry{version: version{rv: object.GetResourceVersion()}, initial: true})
			} else {
				d.ledger.initial(n, object.GetResourceVersion())
			}
			d.initial++
			if !yield(i, object) {
				return
			}
		}
	}
}

// load makes the events happen until there are no more, the duration has
// passed, or ctx ends. It returns why it ended.
func (d *drive) load(ctx context.Context) (string, error) {
	defer closeStream(d.stream.Stream)
	err := d.server.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return Interrupted, nil
	case d.stream.cut:
		return "duration", err
	}
	return "end", err
}
