package impltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// mishap does something random to a source, mostly changes of objects.
func mishap(rnd *rand.Rand, s *source) string {
	name := fmt.Sprint("o", rnd.IntN(12))
	switch what := rnd.IntN(40); {
	case what < 22:
		s.set(name)
		return "set " + name
	case what < 30:
		s.unset(name)
		return "unset " + name
	case what < 32:
		s.bookmark()
		return "bookmark"
	case what < 34:
		s.disconnect()
		return "disconnect"
	case what < 36:
		s.compact()
		return "compact"
	case what < 37:
		s.fail([]error{errors.New("no route"), nil, goneError()}, nil)
		return "fail lists"
	case what < 38:
		s.fail(nil, []error{syscall.ECONNREFUSED, throttledError()})
		return "fail watches"
	default:
		s.mu.Lock()
		if o := s.objs[name]; o != nil {
			s.broadcast(apiwatch.Event{Type: apiwatch.Modified, Object: o})
		}
		s.mu.Unlock()
		return "repeat " + name
	}
}

// informerFaultClauses are about many faults in a row.
var informerFaultClauses = []clause[newInformer]{
	{name: "source-of-truth", contract: "informer", run: informerSourceOfTruth,
		reason: "after any stream of faults the store, and what each handler was told, come to be what the server holds"},
}

func informerSourceOfTruth(t *trial, new newInformer) {
	t.needs("relist-after-410", "late-handler-one-moment")
	rnd := t.Rand()
	for round := range 6 {
		s := newSource("o1", "o2", "o3")
		s.streaming = round%2 == 1
		i := inform(t, new, s, cache.SharedIndexInformerOptions{ResyncPeriod: 30 * time.Second})
		handlers := []*listener{i.listen(cache.HandlerOptions{}), i.listen(every(0))}
		handlers[1].during(func(string) { time.Sleep(10 * time.Millisecond) })
		i.run()
		for range 150 {
			mishap(rnd, s)
			switch rnd.IntN(10) {
			case 0:
				time.Sleep(time.Duration(rnd.IntN(40_000)) * time.Millisecond)
			case 1:
				handlers = append(handlers, i.listen(cache.HandlerOptions{}))
			case 2:
				if n := rnd.IntN(len(handlers)); n > 1 {
					assert.NoError(t, i.RemoveEventHandler(handlers[n].registration))
					handlers = append(handlers[:n], handlers[n+1:]...)
				}
			}
		}
		s.compact() // repeated events may be old: a list settles it
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		i.expectTruth("after faults")
		for n, l := range handlers {
			assert.Equal(t, s.truth(), replayed(l.heard()), "what handler %d of %d was told", n, len(handlers))
		}
		i.stop()
		<-i.done
		synctest.Wait()
		if !t.relaxed("no-goroutine-left") {
			assert.Empty(t, t.Goroutines(), "after Run has returned")
		}
	}
}

// replayed is the labels of the objects that a handler knows of.
func replayed(calls []string) string {
	known := map[string]string{}
	for _, call := range calls {
		words := strings.Fields(call)
		word := words[len(words)-1]
		name, _, _ := strings.Cut(word, "@")
		if words[0] == "lost" || words[0] == "delete" {
			delete(known, name)
		} else {
			known[name] = word
		}
	}
	var all []string
	for _, word := range known {
		all = append(all, word)
	}
	return sorted(all)
}

// informerDifferentialClauses compare an informer with upstream's.
var informerDifferentialClauses = []clause[newInformer]{
	{name: "differential", contract: "informer", run: informerDifferential,
		reason: "on random streams of events and faults each handler is told of each object what client-go's informer tells, but for updates that changed nothing"},
}

func informerDifferential(t *trial, new newInformer) {
	t.needs("as-received", "initial-list-flag", "late-handler-initial", "relist-after-410", "watch-error-handler", "same-rv-replaced-is-sync")
	rnd := t.Rand()
	for round := range 6 {
		seed := rnd.Uint64()
		streaming := round%2 == 1
		want := follow(t, cache.NewSharedIndexInformerWithOptions, seed, streaming)
		got := follow(t, new, seed, streaming)
		for n := range want {
			if want[n] != got[n] {
				t.Fatalf("step %d: %s\nexpected: %s", n, got[n], want[n])
			}
		}
	}
}

// follow runs an informer on a stream and tells after each step what it stores
// and what its handlers were told, sorted by object.
func follow(t *trial, new newInformer, seed uint64, streaming bool) []string {
	rnd := rand.New(rand.NewPCG(seed, 1))
	s := newSource("o1", "o2", "o3")
	s.streaming = streaming
	i := inform(t, new, s, cache.SharedIndexInformerOptions{})
	handlers := []*listener{i.listen(cache.HandlerOptions{}), i.listen(cache.HandlerOptions{})}
	i.run()
	var steps []string
	for range 50 {
		var did []string
		for range 1 + rnd.IntN(4) {
			did = append(did, mishap(rnd, s))
			synctest.Wait()
		}
		if rnd.IntN(8) == 0 {
			handlers = append(handlers, i.listen(cache.HandlerOptions{}))
		}
		s.settle()
		step := fmt.Sprintf("after %s: store %s at %s, %d errors", strings.Join(did, ", "), labels(i.GetStore().List()), i.LastSyncResourceVersion(), len(i.failures()))
		for n, l := range handlers {
			step += fmt.Sprintf("\n\thandler %d: %s", n, byObject(l.heard()))
		}
		steps = append(steps, step)
	}
	i.stop()
	<-i.done
	return steps
}

// settle waits until the informer watches again, and for longer than a second: a
// watch that ends sooner is listed after.
func (s *source) settle() {
	defer time.Sleep(2 * time.Second)
	for range 100 {
		synctest.Wait()
		s.mu.Lock()
		watched := len(s.watchers) > 0
		s.mu.Unlock()
		if watched {
			return
		}
		time.Sleep(5 * time.Second)
	}
}

// byObject sorts calls by object and keeps the order of each object's: lists
// come in no order. It leaves out updates that changed nothing, of which other
// clauses say who is told.
func byObject(calls []string) string {
	of := map[string][]string{}
	var names []string
	for _, call := range calls {
		words := strings.Fields(call)
		if words[0] == "update" && words[1] == words[2] {
			continue
		}
		name, _, _ := strings.Cut(words[1], "@")
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], call)
	}
	var all []string
	for _, name := range names {
		all = append(all, strings.Join(of[name], "; "))
	}
	return fmt.Sprintf("%q", sorted(all))
}
