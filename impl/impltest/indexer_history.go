package impltest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// indexerConcurrencyClauses are the clauses that hold for any number of
// goroutines.
var indexerConcurrencyClauses = []clause[newIndexer]{
	{name: "concurrent", contract: "indexer", run: expectUndisturbed,
		reason: "writers of different keys don't disturb each other: in the end the store holds what each wrote last"},
	{name: "linearizable", contract: "indexer", run: indexerLinearizable,
		reason: "every history of concurrent calls can be explained by calls made one after another"},
}

func indexerLinearizable(t *trial, new newIndexer) {
	t.needs("replace", "replace-one-moment", "object-and-index-together", "one-moment", "stored-objects", "transaction-one-moment", "index-entry-left-behind", "returned-slices-owned-by-caller")
	rnd := t.Rand()
	for round := range 60 {
		if h := recordIndexer(t, indexerOf(new), rnd); !storeExplains(h) {
			t.Fatalf("round %d: no order of these calls explains their results:\n%s", round, describeStoreHistory(h))
		}
	}
}

// expectUndisturbed lets writers loose, each on keys of its own, beside readers.
func expectUndisturbed(t *trial, new newIndexer) {
	t.needs("index-entry-left-behind", "multi-value-index", "empty-index-values-removed", "stored-objects")
	const writers, each, writes = 4, 60, 1500
	x := indexerOf(new)
	rnd := t.Rand()
	var wanted sync.Map // key → object
	var done []<-chan struct{}
	for w := range writers {
		rnd := rand.New(rand.NewPCG(rnd.Uint64(), 0))
		done = append(done, t.Go(func() {
			for i := range writes {
				obj := member(fmt.Sprintf("w%d-%d", w, rnd.IntN(each)), i, fmt.Sprint(rnd.IntN(6)), fmt.Sprint(rnd.IntN(40)))
				if rnd.IntN(4) == 0 {
					_ = x.Delete(obj)
					wanted.Delete(obj.Name)
				} else {
					_ = x.Update(obj)
					wanted.Store(obj.Name, obj)
				}
				if got, exists, _ := x.GetByKey("ns/" + obj.Name); exists {
					if want, _ := wanted.Load(obj.Name); got != want {
						t.Fatalf("GetByKey answers %s to the key's only writer, who wrote %s", label(got), label(want))
					}
				}
			}
		}))
	}
	for range 2 {
		done = append(done, t.Go(func() {
			for range 100 {
				x.List()
				_, _ = x.ByIndex(byGroup, "1")
				_, _ = x.IndexKeys(byGroup, "2")
				x.ListIndexFuncValues(byGroup)
				x.LastStoreSyncResourceVersion()
				runtime.Gosched()
			}
		}))
	}
	for _, d := range done {
		<-d
	}
	var all []any
	groups := map[string][]any{}
	wanted.Range(func(_, obj any) bool {
		all = append(all, obj)
		o := obj.(*metav1.PartialObjectMetadata)
		for _, g := range slices.Compact(slices.Sorted(slices.Values(o.Finalizers))) {
			groups[g] = append(groups[g], obj)
		}
		return true
	})
	if want, got := labels(all), labels(x.List()); want != got {
		t.Errorf("List: %s\nexpected: %s", got, want)
	}
	for g, objs := range groups {
		if want, got := labels(objs), byIndex(t, x, byGroup, g); want != got {
			t.Errorf("ByIndex(%s): %s\nexpected: %s", g, got, want)
		}
	}
	if want, got := len(groups), len(x.ListIndexFuncValues(byGroup)); want != got {
		t.Errorf("ListIndexFuncValues: %d values, expected %d", got, want)
	}
}

// A storeState is the version of each key; 0 is none. Versions are unique, and
// an object of an even version is in group "0", of an odd one in group "1".
type storeState [3]int

// A storeCall is an operation on a store. Its writes name keys and versions,
// version 0 deletes.
type storeCall struct {
	method string
	key    int
	state  storeState // what Transaction writes (-1: leaves alone) and Replace stores
	group  int        // of ByIndex
}

func storeStep(s storeState, in storeCall, out storeState) (bool, storeState) {
	switch in.method {
	case "Update", "Delete", "Transaction", "Replace":
		for k, v := range in.state {
			if v >= 0 {
				s[k] = v
			}
		}
		return true, s
	case "Get":
		return out[in.key] == s[in.key], s
	case "ByIndex":
		for k, v := range s {
			if v > 0 && v%2 != in.group {
				v = 0
			}
			if out[k] != v {
				return false, s
			}
		}
		return true, s
	default: // List
		return out == s, s
	}
}

func storeExplains(h []porcupine.Operation) bool {
	model := porcupine.Model{
		Init: func() any { return storeState{} },
		Step: func(state, in, out any) (bool, any) {
			return storeStep(state.(storeState), in.(storeCall), out.(storeState))
		},
	}
	return porcupine.CheckOperationsTimeout(model, h, time.Second) != porcupine.Illegal
}

// apply makes the call on x.
func (c storeCall) apply(x cache.Indexer) storeState {
	objs := make([]any, 0, len(c.state))
	var txns []cache.Transaction
	for k, v := range c.state {
		obj := member(strconv.Itoa(k), v, strconv.Itoa(v%2))
		switch {
		case v > 0:
			objs = append(objs, obj)
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj})
		case v == 0:
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeDelete, Object: obj})
		}
	}
	switch c.method {
	case "Update":
		_ = x.Update(objs[0])
		return storeState{}
	case "Delete":
		_ = x.Delete(txns[0].Object)
		return storeState{}
	case "Transaction":
		x.(transactor).Transaction(txns...)
		return storeState{}
	case "Replace":
		_ = x.Replace(objs, "1")
		return storeState{}
	case "Get":
		obj, _, _ := x.GetByKey("ns/" + strconv.Itoa(c.key))
		return stateOf(obj)
	case "ByIndex":
		got, _ := x.ByIndex(byGroup, strconv.Itoa(c.group))
		return stateOf(got...)
	default:
		return stateOf(x.List()...)
	}
}

func stateOf(objs ...any) (s storeState) {
	for _, obj := range objs {
		if o, ok := obj.(*metav1.PartialObjectMetadata); ok {
			s[number(o.Name)] = number(o.ResourceVersion)
		}
	}
	return s
}

// randomStoreCall is a call whose versions count up from version.
func randomStoreCall(rnd *rand.Rand, version int, transactions bool) storeCall {
	nothing := storeState{-1, -1, -1}
	k := rnd.IntN(3)
	switch op := rnd.IntN(14); {
	case op < 3:
		nothing[k] = version
		return storeCall{method: "Update", state: nothing}
	case op < 4:
		nothing[k] = 0
		return storeCall{method: "Delete", state: nothing}
	case op < 7 && transactions:
		nothing[k], nothing[(k+1)%3] = version, (version+1)*rnd.IntN(2)
		return storeCall{method: "Transaction", state: nothing}
	case op < 8:
		s := storeState{version, version + 1, version + 2}
		s[k] = 0
		return storeCall{method: "Replace", state: s}
	case op < 10:
		return storeCall{method: "Get", key: k}
	case op < 12:
		return storeCall{method: "ByIndex", group: rnd.IntN(2)}
	default:
		return storeCall{method: "List"}
	}
}

// recordIndexer lets four clients loose on x.
func recordIndexer(t *trial, x cache.Indexer, source *rand.Rand) []porcupine.Operation {
	var (
		clock   atomic.Int64
		mu      sync.Mutex
		h       []porcupine.Operation
		clients []<-chan struct{}
	)
	_, transactions := x.(transactor)
	for client := range 4 {
		rnd := rand.New(rand.NewPCG(source.Uint64(), 0))
		clients = append(clients, t.Go(func() {
			for i := range 10 {
				in := randomStoreCall(rnd, client*100+i*3+1, transactions)
				for range rnd.IntN(4) {
					runtime.Gosched()
				}
				op := porcupine.Operation{ClientId: client, Input: in, Call: clock.Add(1)}
				op.Output = in.apply(x)
				op.Return = clock.Add(1)
				mu.Lock()
				h = append(h, op)
				mu.Unlock()
			}
		}))
	}
	for _, c := range clients {
		<-c
	}
	return h
}

func describeStoreHistory(h []porcupine.Operation) string {
	slices.SortFunc(h, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, op := range h {
		fmt.Fprintf(&b, "  from %d to %d, client %d: ", op.Call, op.Return, op.ClientId)
		switch in := op.Input.(storeCall); in.method {
		case "Get":
			fmt.Fprintf(&b, "Get(%d) = version %d\n", in.key, op.Output.(storeState)[in.key])
		case "ByIndex":
			fmt.Fprintf(&b, "ByIndex(%d) = versions %v\n", in.group, op.Output)
		case "List":
			fmt.Fprintf(&b, "List = versions %v\n", op.Output)
		default:
			fmt.Fprintf(&b, "%s to versions %v (-1 stays, 0 is none)\n", in.method, in.state)
		}
	}
	return b.String()
}
