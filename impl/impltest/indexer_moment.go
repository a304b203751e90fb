package impltest

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// How many writes a clause about moments makes beside its readers at least, how
// many looks each reader takes meanwhile at least, however busy the machine is, and
// how many other objects are in the store, so that a read takes long enough to be
// torn.
const (
	momentWrites = 1200
	momentLooks  = 100
	bystanders   = 300
)

// A read looks at the store once and says what is wrong with what it saw, or "".
type read func() string

// beside makes writes one after another while each read runs again and again in
// a goroutine of its own. The first thing that is wrong ends it all.
func beside(t *trial, write func(i int), reads map[string]read) {
	var looking atomic.Int32 // readers that have not looked often enough
	looking.Store(int32(len(reads)))
	written := t.Go(func() {
		for i := 1; (i <= momentWrites || looking.Load() > 0) && !t.Failed(); i++ {
			write(i)
			if i%4 == 0 {
				runtime.Gosched()
			}
		}
	})
	var readers []<-chan struct{}
	for name, look := range reads {
		readers = append(readers, t.Go(func() {
			for n := 1; !closed(written) && !t.Failed(); n++ {
				if wrong := look(); wrong != "" {
					t.Errorf("%s: %s", name, wrong)
				}
				if n == momentLooks {
					looking.Add(-1)
				}
				runtime.Gosched()
			}
		}))
	}
	<-written
	for _, done := range readers {
		<-done
	}
}

// busy are the suite's indices, with a pause for the readers wherever an
// implementation calls an index function.
func busy() cache.Indexers {
	return cache.Indexers{byGroup: groupsOf, byVersion: func(obj any) ([]string, error) {
		runtime.Gosched()
		return versionOf(obj)
	}}
}

// withBystanders makes an indexer with bystanders of one version in the group
// "all".
func withBystanders(t *trial, new newIndexer) cache.Indexer {
	x := indexerOf(new)
	for i := range bystanders {
		put(t, x, member(fmt.Sprint("bystander", i), 1_000_000, "all"))
	}
	return x
}

// versionIn is the version of the object of that name, or -1.
func versionIn(objs []any, name string) int {
	for _, obj := range objs {
		if o, ok := obj.(*metav1.PartialObjectMetadata); ok && o.Name == name {
			return number(o.ResourceVersion)
		}
	}
	return -1
}

func number(version string) int {
	n, err := strconv.Atoi(version)
	if err != nil {
		return -1
	}
	return n
}

// paired says what is wrong with objects that must include a and b in one version.
func paired(objs []any, n int) string {
	if a, b := versionIn(objs, "a"), versionIn(objs, "b"); a != b || a < 0 {
		return fmt.Sprintf("a in version %d and b in version %d (-1 is none), though both are always written together", a, b)
	}
	if len(objs) != n {
		return fmt.Sprintf("%d objects, though there are always %d", len(objs), n)
	}
	return ""
}

// alternate says what is wrong with keys that must include either even or odd.
func alternate(keys []string, n int) string {
	even, odd := slices.Contains(keys, "ns/even"), slices.Contains(keys, "ns/odd")
	if even == odd {
		return fmt.Sprintf("even is there: %v, odd is there: %v, though one is always added as the other is deleted", even, odd)
	}
	if len(keys) != n {
		return fmt.Sprintf("%d keys, though there are always %d", len(keys), n)
	}
	return ""
}

// momentClauses are the clauses about reads beside writes.
var momentClauses = []clause[newIndexer]{
	{name: "one-moment", contract: "indexer 1", run: indexerOneMoment,
		reason: "a read sees the store at one moment: two objects that are written together are never seen apart"},
	{name: "object-and-index-together", contract: "indexer 1", run: indexerObjectAndIndexTogether,
		reason: "an object and its index entries change together: who finds an object by its value gets it with that value"},
	{name: "transaction-one-moment", contract: "indexer 8", run: indexerTransactionOneMoment,
		reason: "a batch is applied at one moment: who has seen one of its objects sees all of them"},
	{name: "replace-one-moment", contract: "indexer 9", run: indexerReplaceOneMoment,
		reason: "a relist is one moment: nobody sees a half-filled store, or would delete what belongs to the missing half"},
}

func indexerOneMoment(t *trial, new newIndexer) {
	t.needs("multi-value-index", "empty-index-values-removed", "object-and-index-together", "transaction-one-moment", "index-entry-left-behind")
	x := transacting(t, withBystanders(t, new))
	write := func(i int) {
		v := strconv.Itoa(i)
		names := []string{"even", "odd"}
		x.Transaction(
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: member("a", i, "pair", "all", "v"+v)},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: member(names[i%2], i, "all")},
			cache.Transaction{Type: cache.TransactionTypeDelete, Object: object(names[1-i%2], i)},
			cache.Transaction{Type: cache.TransactionTypeUpdate, Object: member("b", i, "pair", "all", "v"+v)},
		)
	}
	write(0)
	const n = bystanders + 3
	beside(t, write, map[string]read{
		"List":                func() string { return paired(x.List(), n) },
		"ListKeys":            func() string { return alternate(x.ListKeys(), n) },
		"ByIndex of 2":        func() string { o, _ := x.ByIndex(byGroup, "pair"); return paired(o, 2) },
		"ByIndex of all":      func() string { o, _ := x.ByIndex(byGroup, "all"); return paired(o, n) },
		"Index":               func() string { o, _ := x.Index(byGroup, member("x", 0, "pair", "all")); return paired(o, n) },
		"IndexKeys":           func() string { k, _ := x.IndexKeys(byGroup, "all"); return alternate(k, n) },
		"ListIndexFuncValues": func() string { return twoVersions(x.ListIndexFuncValues(byVersion)) },
	})
}

func indexerObjectAndIndexTogether(t *trial, new newIndexer) {
	t.needs("empty-index-values-removed", "stored-objects", "index-entry-left-behind")
	x := new(keyOf, busy())
	put(t, x, member("a", 0))
	versionByKey := func() int {
		obj, _, _ := x.GetByKey("ns/a")
		return versionIn([]any{obj}, "a")
	}
	beside(t, func(i int) { _ = x.Update(member("a", i)) }, map[string]read{
		"ListIndexFuncValues": func() string {
			if vals := x.ListIndexFuncValues(byVersion); len(vals) != 1 {
				return fmt.Sprintf("%d values %v of the only object", len(vals), vals)
			}
			return ""
		},
		"ByIndex": func() string {
			for _, v := range x.ListIndexFuncValues(byVersion) {
				objs, _ := x.ByIndex(byVersion, v)
				if len(objs) > 1 || len(objs) == 1 && label(objs[0]) != "a@"+v {
					return fmt.Sprintf("%s under version %s", labels(objs), v)
				}
				if got := versionByKey(); got < number(v) {
					return fmt.Sprintf("a was found under version %s, then GetByKey answered version %d", v, got)
				}
			}
			return ""
		},
		"GetByKey, then ByIndex": func() string {
			v := versionByKey()
			if objs, _ := x.ByIndex(byVersion, strconv.Itoa(v-1)); len(objs) > 0 {
				return fmt.Sprintf("a was read in version %d, then %s was found under version %d", v, labels(objs), v-1)
			}
			if keys, _ := x.IndexKeys(byVersion, strconv.Itoa(v-1)); len(keys) > 0 {
				return fmt.Sprintf("a was read in version %d, then %v was found under version %d", v, keys, v-1)
			}
			return ""
		},
	})
}

func indexerTransactionOneMoment(t *trial, new newIndexer) {
	t.needs("empty-index-values-removed", "object-and-index-together", "one-moment", "stored-objects", "index-entry-left-behind")
	x := transacting(t, new(keyOf, busy()))
	write := func(i int) { x.Transaction(updates(member("a", i), member("m", i), member("b", i))...) }
	write(0)
	get := func(name string) int {
		obj, _, _ := x.GetByKey("ns/" + name)
		return versionIn([]any{obj}, name)
	}
	ascending := func(first, then string) read {
		return func() string {
			if v, w := get(first), get(then); w < v {
				return fmt.Sprintf("%s in version %d, then %s in version %d, though both are always written together", first, v, then, w)
			}
			return ""
		}
	}
	beside(t, write, map[string]read{
		"GetByKey of a, then b": ascending("a", "b"),
		"GetByKey of b, then a": ascending("b", "a"),
		"List":                  func() string { return paired(x.List(), 3) },
		"ListIndexFuncValues": func() string {
			if vals := x.ListIndexFuncValues(byVersion); len(vals) != 1 {
				return fmt.Sprintf("%d versions %v of objects that are always written together", len(vals), vals)
			}
			return ""
		},
	})
}

func indexerReplaceOneMoment(t *trial, new newIndexer) {
	t.needs("object-and-index-together", "one-moment")
	x := new(keyOf, busy())
	write := func(i int) {
		objs := make([]any, 40)
		for k := range objs {
			objs[k] = member(fmt.Sprint("o", k), i, "all")
		}
		_ = x.Replace(objs, strconv.Itoa(i))
	}
	write(0)
	whole := func(objs []any) string {
		if len(objs) != 40 {
			return fmt.Sprintf("%d objects, though there are always 40", len(objs))
		}
		versions := map[string]bool{}
		for _, obj := range objs {
			_, v, _ := strings.Cut(label(obj), "@")
			versions[v] = true
		}
		if len(versions) != 1 {
			return fmt.Sprintf("objects of %d lists", len(versions))
		}
		return ""
	}
	beside(t, write, map[string]read{
		"List":    func() string { return whole(x.List()) },
		"ByIndex": func() string { o, _ := x.ByIndex(byGroup, "all"); return whole(o) },
		"ListKeys": func() string {
			if n := len(x.ListKeys()); n != 40 {
				return fmt.Sprintf("%d keys, though there are always 40", n)
			}
			return ""
		},
		"GetByKey": func() string {
			if _, exists, _ := x.GetByKey("ns/o17"); !exists {
				return "nothing, though the object is in every list"
			}
			return ""
		},
		"GetByKey twice": func() string {
			first, _, _ := x.GetByKey("ns/o39")
			then, _, _ := x.GetByKey("ns/o0")
			if v, w := versionIn([]any{first}, "o39"), versionIn([]any{then}, "o0"); w < v {
				return fmt.Sprintf("an object of list %d, then one of list %d", v, w)
			}
			return ""
		},
	})
}

func twoVersions(vals []string) string {
	if len(vals) != 2 {
		return fmt.Sprintf("versions %v, though the bystanders have one and the others have one", vals)
	}
	return ""
}
