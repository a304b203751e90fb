package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// maxEvents is how much of a stream the pipeline cases hold in memory and run
// over and over.
const maxEvents = 20_000

// quickEvents is how much of it the quick profile runs.
const quickEvents = 2_000

// A pipeline names the variants on the way from a watch event to a reconcile.
type pipeline struct {
	fifo, indexer, queue string
}

// pipelines are whole ways, not components: all references, all of the best,
// all upstream.
func pipelines() []impl.Variant[pipeline] {
	return []impl.Variant[pipeline]{
		{Name: "reference", New: pipeline{"slice", "locked", "slice"},
			Summary: "the plain references of in-order FIFO, indexer and work queue"},
		{Name: "flagship", New: pipeline{"ring", "snapshot", "compact"},
			Summary: "the fastest full drop-ins: in-order FIFO ring, indexer snapshot, work queue compact"},
		{Name: "client-go", Peer: true, New: pipeline{"client-go", "client-go", "client-go"},
			Summary: "RealFIFO with atomic events, cache.NewIndexer, workqueue.NewTyped"},
	}
}

// A source is a named stream that can be opened again and again.
type source struct {
	name, summary string
	quick         bool
	events        int // at most
	open          func() (loadgen.Stream, error)
}

func sources(o Options) ([]source, error) {
	if o.Trace != "" {
		return []source{{"trace", fmt.Sprintf("the recording %s, its first %d events at most", o.Trace, maxEvents), true, maxEvents, func() (loadgen.Stream, error) { return trace.Open(o.Trace) }}}, nil
	}
	workload := func(nameOrPath string, quick bool) (source, error) {
		spec, err := loadgen.Open(nameOrPath)
		if err != nil {
			return source{}, err
		}
		if spec.Seed == 0 {
			spec.Seed = o.Seed
		}
		return source{spec.Name, spec.Description, quick, maxEvents, func() (loadgen.Stream, error) { return newLoad(spec) }}, nil
	}
	if o.Workload != "" {
		s, err := workload(o.Workload, true)
		return []source{s}, err
	}
	recording := func(quick bool, events int) source {
		return source{"recording", "a rolling update recorded from a real control plane", quick, events, func() (loadgen.Stream, error) { return trace.Sample() }}
	}
	all := []source{recording(true, quickEvents), recording(false, maxEvents)}
	for _, preset := range loadgen.Presets() {
		s, err := workload(preset, false)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// A load is what happens in a workload, without its initial population, most of
// which nothing happens to: an object is added when its first event comes.
type load struct {
	events *loadgen.Generator
	known  map[cache.ObjectName]bool
}

func newLoad(spec *loadgen.Spec) (loadgen.Stream, error) {
	g, err := spec.Generator()
	return &load{g, map[cache.ObjectName]bool{}}, err
}

// Next implements loadgen.Stream.
func (l *load) Next() (loadgen.Event, error) {
	for {
		e, err := l.events.Next()
		if err != nil {
			return e, err
		}
		name := cache.MetaObjectToName(e.Object)
		switch known := l.known[name]; {
		case e.Type == watch.Deleted && !known:
			continue
		case e.Type == watch.Deleted:
			delete(l.known, name)
		case !known:
			l.known[name] = true
			e.Type = watch.Added
		}
		return e, nil
	}
}

// Validate reads the trace to its end, or the workload up to its first event, and
// says what is wrong with it.
func (o Options) Validate() error {
	if o.Trace != "" && o.Workload != "" {
		return errors.New("both a workload and a trace were given, expected one of them")
	}
	all, err := sources(o)
	if err != nil || o.Trace == "" && o.Workload == "" {
		return err
	}
	if o.Workload != "" { // a valid spec has no faulty events, but perhaps none
		some, err := all[0].first(1)
		if err == nil && len(some) == 0 {
			err = fmt.Errorf("%s: %w", o.Workload, errNoEvents)
		}
		return err
	}
	var recording *trace.Trace
	all[0].open = func() (s loadgen.Stream, err error) {
		recording, err = trace.Open(o.Trace)
		return recording, err
	}
	events := 0
	err = all[0].each(func(loadgen.Event) bool { events++; return true })
	if err == nil && events == 0 {
		err = fmt.Errorf("%s: no events but bookmarks, expected at least one", o.Trace)
	}
	if err == nil && recording.Cut() != nil && o.Cut != nil {
		o.Cut(recording.Cut())
	}
	return err
}

var errNoEvents = errors.New("no events within its duration but deletes of the initial objects, expected at least one")

// each yields the events of a source, without its bookmarks: they carry no
// object.
func (s source) each(yield func(loadgen.Event) bool) error {
	stream, err := s.open()
	if err != nil {
		return err
	}
	if c, ok := stream.(io.Closer); ok {
		defer c.Close()
	}
	for {
		e, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Type != watch.Bookmark && !yield(e) {
			return nil
		}
	}
}

// first returns the first events of a source.
func (s source) first(limit int) ([]loadgen.Event, error) {
	var events []loadgen.Event
	err := s.each(func(e loadgen.Event) bool {
		events = append(events, e)
		return len(events) < limit
	})
	return events, err
}

func pipelineCases(o Options) ([]Case, error) {
	all, err := sources(o)
	if err != nil {
		return nil, err
	}
	var questions []question[pipeline]
	for _, s := range all {
		name := "op=stream/source=" + Value(s.name)
		if s.events < maxEvents {
			name += "/events=" + human(s.events)
		}
		questions = append(questions, question[pipeline]{
			name: name, unit: cpuTime, quick: s.quick, head: "the events from watch to worker",
			summary: "through FIFO, indexer, queue and 4 workers: " + s.summary,
			run:     func(b *testing.B, v impl.Variant[pipeline]) { stream(b, v.New, s) },
		})
	}
	c := component[pipeline]{"pipeline", "client-go", pipelines()}
	return c.cases(questions...), nil
}

func stream(b *testing.B, p pipeline, s source) {
	events, err := s.first(s.events)
	if err != nil {
		b.Fatal(err)
	}
	if len(events) == 0 {
		b.Fatal(errNoEvents)
	}
	want := accountFor(events)
	var parts func() pipelineRun
	if p == (pipeline{}) {
		parts = nullParts(events, &want)
	} else if parts, err = p.parts(); err != nil {
		b.Fatal(err)
	}
	measured(b, len(events), true, func() {
		r := parts()
		r.seen, r.want = make([]string, len(want.final)), want
		if err := r.run(events, 4); err != nil {
			b.Fatal(err)
		}
	})
	if p == (pipeline{}) { // the events are made beforehand: what that takes is not measured
		reportGenerator(b, s)
	}
}

// parts makes the variants' constructors into one.
func (p pipeline) parts() (func() pipelineRun, error) {
	newFIFO, err1 := impl.Find(impl.InOrderFIFOs(), p.fifo)
	newIndexer, err2 := impl.Find(impl.Indexers(), p.indexer)
	newQueue, err3 := impl.Find(impl.Queues[string](), p.queue)
	return func() pipelineRun {
		return pipelineRun{
			fifo:    newFIFO.New(impl.FIFOConfig{Atomic: true}),
			indexer: newIndexer.New(cache.MetaNamespaceKeyFunc, indexersOf(0)),
			queue:   newQueue.New(workqueue.TypedQueueConfig[string]{}),
		}
	}, errors.Join(err1, err2, err3)
}

// nullParts pop the events in batches without having stored them, and hand each key to a
// worker once, who finds the same object for all of them. It changes want
// accordingly.
func nullParts(events []loadgen.Event, want *account) func() pipelineRun {
	var batches []any
	for some := range slices.Chunk(events, 100) {
		deltas := make(cache.Deltas, len(some))
		for i, e := range some {
			deltas[i] = cache.Delta{Type: cache.Updated, Object: e.Object}
			if e.Type == watch.Deleted {
				deltas[i].Type = cache.Deleted
			}
		}
		batches = append(batches, deltas)
	}
	keys := make([]string, len(want.final))
	for key, i := range want.index {
		keys[i] = key
	}
	for i := range want.final {
		want.final[i] = events[0].Object.GetResourceVersion()
	}
	want.live = 1
	return func() pipelineRun {
		return pipelineRun{
			fifo:    &nullBatches{nullFIFO{turn: turn[any]{keys: batches}, once: true}},
			indexer: nullIndexer{objects: []any{events[0].Object}},
			queue:   newNullFlow(keys),
		}
	}
}

// reportGenerator tells what it takes to make an event of the source.
func reportGenerator(b *testing.B, s source) {
	stream, err := s.open()
	if err != nil {
		b.Fatal(err)
	}
	if c, ok := stream.(io.Closer); ok {
		defer c.Close()
	}
	perEvent, _, err := loadgen.Cost(stream, maxEvents)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(perEvent.Nanoseconds()), "generator-ns/event")
}

// An account says what must have been seen at the end of a stream.
type account struct {
	index map[string]int // of a key in final
	final []string       // by key, the last resource version; "" once deleted
	live  int
}

func accountFor(events []loadgen.Event) account {
	a := account{index: map[string]int{}}
	for _, e := range events {
		key := cache.MetaObjectToName(e.Object).String()
		i, ok := a.index[key]
		if !ok {
			i = len(a.final)
			a.index[key] = i
			a.final = append(a.final, "")
		}
		a.final[i] = e.Object.GetResourceVersion()
		if e.Type == watch.Deleted {
			a.final[i] = ""
		}
	}
	for _, version := range a.final {
		if version != "" {
			a.live++
		}
	}
	return a
}

type pipelineRun struct {
	fifo    cache.Queue
	indexer cache.Indexer
	queue   workqueue.TypedInterface[string]
	want    account
	seen    []string // by key, what the last reconcile found
}

// run sends the events through and accounts for them.
func (r *pipelineRun) run(events []loadgen.Event, workers int) error {
	var consumer, reconcilers sync.WaitGroup
	var consumed error
	consumer.Go(func() { consumed = r.consume() })
	for range workers {
		reconcilers.Go(r.reconcile)
	}
	var sent error
	for _, e := range events {
		switch e.Type {
		case watch.Added:
			sent = errors.Join(sent, r.fifo.Add(e.Object))
		case watch.Deleted:
			sent = errors.Join(sent, r.fifo.Delete(e.Object))
		default:
			sent = errors.Join(sent, r.fifo.Update(e.Object))
		}
	}
	r.fifo.Close()
	consumer.Wait()
	r.queue.ShutDown()
	reconcilers.Wait()
	if err := errors.Join(sent, consumed); err != nil {
		return err
	}
	for key, i := range r.want.index {
		if r.seen[i] != r.want.final[i] {
			return fmt.Errorf("%s was last seen at version %q, expected %q", key, r.seen[i], r.want.final[i])
		}
	}
	if got := len(r.indexer.ListKeys()); got != r.want.live {
		return fmt.Errorf("%d objects stored, expected %d", got, r.want.live)
	}
	return nil
}

// consume is the informer's loop: store writes first, notifications after.
func (r *pipelineRun) consume() error {
	batched, _ := r.fifo.(cache.QueueWithBatch)
	many := func(deltas []cache.Delta, _ bool) error { return r.apply(deltas) }
	single := func(obj any, _ bool) error { return r.apply(obj.(cache.Deltas)) }
	for {
		var err error
		if batched != nil {
			err = batched.PopBatch(many, single)
		} else {
			_, err = r.fifo.Pop(single)
		}
		if errors.Is(err, cache.ErrFIFOClosed) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

var transactionTypes = map[cache.DeltaType]cache.TransactionType{
	cache.Added: cache.TransactionTypeAdd, cache.Updated: cache.TransactionTypeUpdate, cache.Deleted: cache.TransactionTypeDelete,
}

func (r *pipelineRun) apply(deltas []cache.Delta) error {
	if store, ok := r.indexer.(cache.TransactionStore); ok && len(deltas) > 1 {
		writes := make([]cache.Transaction, len(deltas))
		for i, d := range deltas {
			writes[i] = cache.Transaction{Object: d.Object, Type: transactionTypes[d.Type]}
		}
		if err := store.Transaction(writes...); err != nil {
			return err
		}
	} else {
		for _, d := range deltas {
			write := r.indexer.Update
			if d.Type == cache.Deleted {
				write = r.indexer.Delete
			}
			if err := write(d.Object); err != nil {
				return err
			}
		}
	}
	for _, d := range deltas {
		key, err := cache.MetaNamespaceKeyFunc(d.Object)
		if err != nil {
			return err
		}
		r.queue.Add(key)
	}
	return nil
}

// reconcile is a worker. No two hold a key at the same time, so that seen
// needs no lock.
func (r *pipelineRun) reconcile() {
	for {
		key, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		version := ""
		if obj, exists, _ := r.indexer.GetByKey(key); exists {
			version = obj.(loadgen.Object).GetResourceVersion()
		}
		r.seen[r.want.index[key]] = version
		r.queue.Done(key)
	}
}
