// Package record records watch traffic from a cluster. Its steps, in order:
//
//  1. [Resolve] finds the resources that are asked for through discovery.
//  2. A [Recorder] lists each resource and then watches it (watch.go), with
//     read-only requests alone: objects go into the file as the server sent
//     them, with the time of receipt.
//  3. When a watch ends it resumes from the last resource version; when that is
//     too old (410 Gone) it lists again, and what changed meanwhile is added as
//     events that the watch would have sent (state.go).
//  4. When the server does not answer for long, the recording ends with an
//     error; what was recorded until then is complete.
package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/informerbench/informerbench/loadgen/trace"
)

// A Resource is one to record.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// Resolve finds resources by any of their names ("pods", "deploy",
// "deployments.apps", "widgets.v1.example.com"), with their preferred version.
// A resource that the server does not have, or that is named twice, is an error.
func Resolve(config *rest.Config, names ...string) ([]Resource, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(client)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	var all []Resource
	for _, name := range names {
		mapping, err := find(mapper, name)
		if err != nil {
			return nil, fmt.Errorf("resource %q: %w", name, err)
		}
		resource := Resource{mapping.Resource, mapping.GroupVersionKind.Kind, mapping.Scope.Name() == meta.RESTScopeNameNamespace}
		if slices.Contains(all, resource) {
			return nil, fmt.Errorf("resource %q: given twice", name)
		}
		all = append(all, resource)
	}
	return all, nil
}

func find(mapper meta.RESTMapper, name string) (*meta.RESTMapping, error) {
	full, group := schema.ParseResourceArg(strings.ToLower(name))
	if full != nil {
		if kind, err := mapper.KindFor(*full); err == nil {
			return mapper.RESTMapping(kind.GroupKind(), kind.Version)
		}
	}
	kind, err := mapper.KindFor(group.WithVersion(""))
	if meta.IsNoMatchError(err) {
		return nil, errors.New("the server has no such resource")
	}
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

// Options say what is recorded and how patiently.
type Options struct {
	Resources []Resource
	Namespace string // "" for all
	Slim      bool   // the metadata alone: a tenth of the size
	// Patience is how long the server may be without an answer, or a watch
	// without success, before the recording ends; default 1 minute.
	Patience time.Duration
	// Known is what an earlier recording that is gone on with holds: the
	// resource version by GroupResource and "namespace/name".
	Known map[string]map[string]string
	// Flush is how often what came is written; default 10 s.
	Flush time.Duration
}

// Counts says what happened while recording.
type Counts struct {
	Events, Bookmarks int
	Existing          int // objects of the first lists
	Reconnects        int // watches that ended and were resumed
	Relists           int // because a resource version was too old
	Inferred          int // events that were found by listing again, not watched
}

// A Recorder writes what it sees into one recording.
type Recorder struct {
	options Options
	clients map[schema.GroupVersion]rest.Interface

	mu      sync.Mutex // guards all below
	writer  trace.Writer
	counts  Counts
	failure error // of the writer
}

// New returns a recorder for the API server of the configuration.
func New(config *rest.Config, writer trace.Writer, o Options) (*Recorder, error) {
	if len(o.Resources) == 0 {
		return nil, errors.New("found no resources to record, expected one or more")
	}
	if o.Patience <= 0 {
		o.Patience = time.Minute
	}
	if o.Flush <= 0 {
		o.Flush = 10 * time.Second
	}
	r := &Recorder{options: o, writer: writer, clients: map[schema.GroupVersion]rest.Interface{}}
	for _, resource := range o.Resources {
		gv := resource.GroupVersion()
		if r.clients[gv] != nil {
			continue
		}
		client, err := newClient(config, gv)
		if err != nil {
			return nil, err
		}
		r.clients[gv] = client
	}
	return r, nil
}

// Counts returns what happened so far. It may be called at any time.
func (r *Recorder) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// Run records until the context ends, which is no error, or until the server
// is gone or the file can't be written. It does not close the writer.
func (r *Recorder) Run(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var group sync.WaitGroup
	for _, resource := range r.options.Resources {
		group.Go(func() {
			if err := r.record(ctx, resource); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("%s: %w", resource.GroupResource(), err))
			}
		})
	}
	group.Go(func() {
		tick := time.NewTicker(r.options.Flush)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := r.flush(); err != nil {
					cancel(err)
				}
			}
		}
	})
	group.Wait()
	if parent.Err() != nil {
		return r.flush()
	}
	return errors.Join(context.Cause(ctx), r.flush())
}

func (r *Recorder) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return nil // reported once, by write
	}
	return r.writer.Flush()
}

// write adds an event and counts it.
func (r *Recorder) write(resource Resource, kind watch.EventType, object []byte, count func(*Counts)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return r.failure
	}
	record := trace.Record{Time: time.Now(), Recorded: kind, Resource: name(resource), Object: object}
	if r.failure = r.writer.Write(record); r.failure != nil {
		return r.failure
	}
	count(&r.counts)
	return nil
}

// name is the resource as recordings name it: the version says what the
// metadata alone does not.
func name(r Resource) string { return r.Resource + "." + r.Version + "." + r.Group }
