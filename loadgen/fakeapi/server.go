// Package fakeapi is an API server as far as a reflector can tell: it serves the
// events of a workload or a recording through list and watch, from memory, with
// the faults of a real one. Its steps, in order:
//
//  1. [New] takes the initial population, the stream of events and the faults.
//  2. [Server.ListerWatcher] is what an informer lists and watches: pages,
//     bookmarks, streamed lists (WatchList), resource versions, 410 Gone.
//  3. [Server.Run] reads the stream some events ahead and makes each happen at
//     the moment it is due.
//  4. [Server.Stats] counts what was served and what went wrong on purpose.
//
// Objects are handed out as they are: they are not encoded, sent and decoded
// again, so that a measurement is about the informer.
package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/pace"
)

// A Config says what a server serves.
type Config struct {
	// Population is what the first lists find, with the index of its resource.
	// May be nil.
	Population iter.Seq2[int, loadgen.Object]

	// Stream yields what happens.
	Stream loadgen.Stream

	// Types holds an empty object of each resource's type, by the index that
	// objects and events have (loadgen.Generator.Types).
	Types []loadgen.Object

	Faults loadgen.Faults
	Seed   uint64 // decides which events come twice

	// NoWatchList makes the server refuse streamed lists, as those before
	// Kubernetes 1.32 do; reflectors then list page by page.
	NoWatchList bool

	// Pacer waits for the events; nil for pace.New(). Run closes it.
	Pacer *pace.Pacer

	// Due, if not nil, hears of each event just before it happens, with the
	// moment at which it was due. It must be fast.
	Due func(event loadgen.Event, due time.Time)
}

// A Server serves the resources of a stream. Its methods may be called from
// any goroutine.
type Server struct {
	config      Config
	random      *rand.Rand // of Run's goroutine
	collections []*collection
	counters    counters
}

// Stats counts what a server did so far.
type Stats struct {
	Sent        int64 // events that happened
	Lists       int64 // lists begun; further pages are not counted
	Watches     int64 // watches begun
	Gone        int64 // answers 410 Gone
	Disconnects int64 // watches cut
	Duplicates  int64 // events sent twice
	Stale       int64 // events followed by their object's previous version
	Bookmarks   int64 // bookmarks sent
}

type counters struct {
	sent, lists, watches, gone, disconnects, duplicates, stale, bookmarks atomic.Int64
}

// New returns a server that holds the initial population.
func New(c Config) (*Server, error) {
	if len(c.Types) == 0 {
		return nil, errors.New("no types, expected that of each resource")
	}
	if c.Pacer == nil {
		c.Pacer = pace.New()
	}
	s := &Server{config: c, random: rand.New(rand.NewPCG(c.Seed, 0x5eed))}
	for _, empty := range c.Types {
		s.collections = append(s.collections, newCollection(empty))
	}
	if c.Population != nil {
		for i, object := range c.Population {
			if i < 0 || i >= len(c.Types) {
				return nil, fmt.Errorf("an object of resource %d, expected below %d", i, len(c.Types))
			}
			s.collections[i].append(watch.Added, object)
		}
		for _, c := range s.collections {
			c.compact() // the population has no history
		}
	}
	return s, nil
}

// Stats returns the counts so far.
func (s *Server) Stats() Stats {
	c := &s.counters
	return Stats{
		Sent: c.sent.Load(), Lists: c.lists.Load(), Watches: c.watches.Load(), Gone: c.gone.Load(),
		Disconnects: c.disconnects.Load(), Duplicates: c.duplicates.Load(), Stale: c.stale.Load(), Bookmarks: c.bookmarks.Load(),
	}
}

// Run makes the events happen, each when it is due counted from now, and
// returns after the last one. It is called once.
//
// Where a watch is so far behind that its backlog fills the server's history,
// Run waits for it: no event is lost, and the events behind it are taken late.
func (s *Server) Run(ctx context.Context) error {
	pacer, begin := s.config.Pacer, time.Now()
	stream := newAhead(s.config.Stream, begin, pacer.Announce)
	defer stream.stop()
	defer pacer.Close() // first, as it may be announcing
	for {
		event, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if event.Resource < 0 || event.Resource >= len(s.collections) {
			return fmt.Errorf("an event of resource %d, expected below %d", event.Resource, len(s.collections))
		}
		due := begin.Add(event.At)
		if err := pacer.Wait(ctx, due); err != nil {
			return err
		}
		if err := s.happen(ctx, event, due); err != nil {
			return err
		}
	}
}

// happen applies an event, with the faults that are drawn for it.
func (s *Server) happen(ctx context.Context, event loadgen.Event, due time.Time) error {
	c, f := s.collections[event.Resource], &s.config.Faults
	if err := c.room(ctx, due); err != nil {
		return err
	}
	if s.config.Due != nil {
		s.config.Due(event, due)
	}
	previous := c.append(event.Type, event.Object)
	sent := s.counters.sent.Add(1)
	if f.Duplicate > 0 && s.random.Float64() < f.Duplicate {
		c.repeat(event.Type, event.Object)
		s.counters.duplicates.Add(1)
	}
	if f.Stale > 0 && s.random.Float64() < f.Stale && previous != nil && event.Type != watch.Deleted {
		c.repeat(watch.Modified, previous)
		c.repeat(watch.Modified, event.Object)
		s.counters.stale.Add(1)
	}
	if f.Gone > 0 && sent%int64(f.Gone) == 0 {
		for _, c := range s.collections {
			c.compact()
		}
	}
	return nil
}
