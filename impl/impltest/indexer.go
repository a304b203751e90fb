package impltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

type newIndexer = func(cache.KeyFunc, cache.Indexers) cache.Indexer

// TestIndexer tests an indexer. Relaxes names the clauses that it gives up. An
// indexer that is a cache.TransactionStore too, as cache.NewIndexer's is, is
// tested as one; the informer uses that for its batches.
func TestIndexer(t *testing.T, new func(cache.KeyFunc, cache.Indexers) cache.Indexer, relaxes ...string) {
	t.Helper()
	runClauses(t, indexerClauses(), new, relaxes)
}

func indexerClauses() []clause[newIndexer] {
	return slices.Concat(storeClauses, versionClauses, transactionClauses, indexClauses, indexFuncClauses,
		momentClauses, indexerConcurrencyClauses, indexerRetentionClauses, indexerDifferentialClauses)
}

// The indices of the suite's objects: any number of groups, one version. What
// has no metadata has no values.
const (
	byGroup   = "group"
	byVersion = "version"
)

func groupsOf(obj any) ([]string, error) {
	if o, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return o.Finalizers, nil
	}
	return nil, nil
}

func versionOf(obj any) ([]string, error) {
	if o, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return []string{o.ResourceVersion}, nil
	}
	return nil, nil
}

func bothIndices() cache.Indexers {
	return cache.Indexers{byGroup: groupsOf, byVersion: versionOf}
}

// keyOf is the informer's key function.
var keyOf cache.KeyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc

func indexerOf(new newIndexer) cache.Indexer { return new(keyOf, bothIndices()) }

// member makes an object of some groups.
func member(name string, version int, groups ...string) *metav1.PartialObjectMetadata {
	o := object(name, version)
	o.Finalizers = groups
	return o
}

// put adds objects that have keys.
func put(t *trial, x cache.Store, objs ...any) {
	t.Helper()
	for _, obj := range objs {
		require.NoError(t, x.Add(obj))
	}
}

// A transactor is an indexer that takes transactions.
type transactor interface {
	cache.Indexer
	cache.TransactionStore
}

// transacting ends the clause when x takes no transactions.
func transacting(t *trial, x cache.Indexer) transactor {
	tx, ok := x.(transactor)
	if !ok {
		t.needs("transaction")
		t.Fatalf("%T is no cache.TransactionStore: the informer would apply a batch of events one by one, unlike with cache.NewIndexer", x)
	}
	return tx
}

func updates(objs ...any) []cache.Transaction {
	txns := make([]cache.Transaction, len(objs))
	for i, obj := range objs {
		txns[i] = cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj}
	}
	return txns
}

// label is an object in a word: "a@3", or "nil".
func label(obj any) string {
	if o, ok := obj.(*metav1.PartialObjectMetadata); ok && o != nil {
		return o.Name + "@" + o.ResourceVersion
	}
	return fmt.Sprint(obj)
}

// labels is objects in words, in order: indexers answer in any.
func labels(objs []any) string {
	words := make([]string, len(objs))
	for i, obj := range objs {
		words[i] = label(obj)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func sorted(words []string) string { return strings.Join(slices.Sorted(slices.Values(words)), " ") }

// byIndex is the labels of ByIndex.
func byIndex(t *trial, x cache.Indexer, name, value string) string {
	t.Helper()
	objs, err := x.ByIndex(name, value)
	require.NoError(t, err)
	return labels(objs)
}

var storeClauses = []clause[newIndexer]{
	{name: "stored-objects", contract: "indexer 10", run: indexerStoredObjects,
		reason: "the store holds the last object that was written under each key, and reads answer that very object"},
	{name: "replace", contract: "indexer 9", run: indexerReplace,
		reason: "after a relist the store holds exactly the list; the last of two objects with one key counts"},
	{name: "key-error", contract: "indexer 10", run: indexerKeyError,
		reason: "an object without a key is answered with a cache.KeyError and changes nothing"},
	{name: "empty-results-non-nil", contract: "indexer 4", run: indexerEmptyResultsNonNil,
		reason: "empty results are empty slices, not nil: callers tell \"none\" from \"unknown\", and JSON prints []"},
	{name: "returned-slices-owned-by-caller", contract: "indexer 6", run: indexerReturnedSlicesOwnedByCaller,
		reason: "callers sort, append to and overwrite the slices that they get; nobody else may see that"},
}

func indexerStoredObjects(t *trial, new newIndexer) {
	x := indexerOf(new)
	first, second := member("a", 1, "g"), member("a", 2, "g")
	put(t, x, first, member("b", 1, "g"))
	got, exists, err := x.Get(object("a", 0))
	require.NoError(t, err)
	assert.True(t, exists, "Get of an added object")
	assert.Same(t, first, got, "Get")
	require.NoError(t, x.Update(second))
	got, _, err = x.GetByKey("ns/a")
	require.NoError(t, err)
	assert.Same(t, second, got, "GetByKey after Update with the same index values")
	assert.Equal(t, "a@2 b@1", labels(x.List()), "List")
	assert.Equal(t, "ns/a ns/b", sorted(x.ListKeys()), "ListKeys")
	require.NoError(t, x.Add(member("a", 3)), "Add of what is there")
	require.NoError(t, x.Update(member("c", 1)), "Update of what is not there")
	assert.Equal(t, "a@3 b@1 c@1", labels(x.List()), "List")
	require.NoError(t, x.Delete(lost("a", nil)))
	require.NoError(t, x.Delete(object("never", 1)))
	got, exists, err = x.GetByKey("ns/a")
	require.NoError(t, err)
	assert.False(t, exists, "GetByKey of a deleted object")
	assert.Nil(t, got, "GetByKey of a deleted object")
	assert.Equal(t, "b@1 c@1", labels(x.List()), "List")
	assert.Equal(t, "ns/b ns/c", sorted(x.ListKeys()), "ListKeys")
	require.NoError(t, x.Resync())
	assert.Equal(t, "b@1 c@1", labels(x.List()), "List after Resync")
}

func indexerReplace(t *trial, new newIndexer) {
	x := indexerOf(new)
	put(t, x, member("a", 1, "g"), member("b", 1, "g"))
	require.NoError(t, x.Replace([]any{member("b", 2, "g"), member("c", 1, "h"), member("c", 2, "g")}, "9"))
	assert.Equal(t, "b@2 c@2", labels(x.List()), "List")
	assert.Equal(t, "ns/b ns/c", sorted(x.ListKeys()), "ListKeys")
	assert.Equal(t, "b@2 c@2", byIndex(t, x, byGroup, "g"), "ByIndex")
	assert.Equal(t, "g", sorted(x.ListIndexFuncValues(byGroup)), "ListIndexFuncValues")
	_, exists, _ := x.GetByKey("ns/a")
	assert.False(t, exists, "GetByKey of what the list does not have")
	require.NoError(t, x.Replace(nil, "10"))
	assert.Empty(t, x.List(), "List after Replace by nothing")
	assert.Empty(t, byIndex(t, x, byGroup, "g"), "ByIndex after Replace by nothing")
	put(t, x, member("d", 1, "g"))
	assert.Equal(t, "d@1", byIndex(t, x, byGroup, "g"), "ByIndex after Replace and Add")
}

func indexerKeyError(t *trial, new newIndexer) {
	t.needs("resource-version")
	x := indexerOf(new)
	put(t, x, member("a", 1, "g"))
	bad := struct{}{}
	_, _, getErr := x.Get(bad)
	for name, err := range map[string]error{
		"Add": x.Add(bad), "Update": x.Update(bad), "Delete": x.Delete(bad), "Get": getErr,
		"Replace": x.Replace([]any{member("b", 2), bad}, "7"),
	} {
		var keyErr cache.KeyError
		if assert.ErrorAs(t, err, &keyErr, name) {
			assert.Equal(t, any(bad), keyErr.Obj, name)
		}
	}
	assert.Equal(t, "a@1", labels(x.List()), "List")
	assert.Equal(t, "a@1", byIndex(t, x, byGroup, "g"), "ByIndex")
	assert.Equal(t, storeVersion("1"), x.LastStoreSyncResourceVersion(), "resource version")
}

func indexerEmptyResultsNonNil(t *trial, new newIndexer) {
	check := func(x cache.Indexer) {
		assert.NotNil(t, x.List(), "List")
		assert.NotNil(t, x.ListKeys(), "ListKeys")
		assert.NotNil(t, x.ListIndexFuncValues(byGroup), "ListIndexFuncValues")
		assert.NotNil(t, x.ListIndexFuncValues("unknown"), "ListIndexFuncValues of an unknown index")
		objs, err := x.ByIndex(byGroup, "none")
		assert.True(t, objs != nil && len(objs) == 0 && err == nil, "ByIndex: %#v, %v", objs, err)
		keys, err := x.IndexKeys(byGroup, "none")
		assert.True(t, keys != nil && len(keys) == 0 && err == nil, "IndexKeys: %#v, %v", keys, err)
		for _, groups := range [][]string{nil, {"none"}, {"none", "nobody"}} {
			objs, err = x.Index(byGroup, member("x", 1, groups...))
			assert.True(t, objs != nil && len(objs) == 0 && err == nil, "Index with groups %v: %#v, %v", groups, objs, err)
		}
	}
	x := indexerOf(new)
	check(x)
	assert.NotNil(t, x.GetIndexers(), "GetIndexers")
	put(t, x, member("a", 1, "g"))
	require.NoError(t, x.Delete(object("a", 1)))
	check(x)
	require.NoError(t, x.Replace(nil, ""))
	check(x)
}

func indexerReturnedSlicesOwnedByCaller(t *trial, new newIndexer) {
	x := indexerOf(new)
	for i := range 300 {
		put(t, x, member(fmt.Sprint("o", i), 1, "many", fmt.Sprint("few", i/3)))
	}
	reads := map[string]func() []any{
		"List":                     x.List,
		"ByIndex":                  func() []any { o, _ := x.ByIndex(byGroup, "many"); return o },
		"ByIndex of few":           func() []any { o, _ := x.ByIndex(byGroup, "few7"); return o },
		"Index":                    func() []any { o, _ := x.Index(byGroup, member("x", 1, "few7")); return o },
		"Index of several":         func() []any { o, _ := x.Index(byGroup, member("x", 1, "many", "few7")); return o },
		"ListKeys":                 func() []any { return anys(x.ListKeys()) },
		"IndexKeys":                func() []any { k, _ := x.IndexKeys(byGroup, "many"); return anys(k) },
		"ListIndexFuncValues":      func() []any { return anys(x.ListIndexFuncValues(byGroup)) },
		"ListIndexFuncValues of 1": func() []any { return anys(x.ListIndexFuncValues(byVersion)) },
	}
	for name, read := range reads {
		mine := read()
		want := labels(mine)
		_ = append(mine[:len(mine)/2], "appended")
		for i := range mine {
			mine[i] = "overwritten"
		}
		_ = append(mine, "appended")
		mine = mine[:cap(mine)]
		clear(mine)
		assert.Equal(t, want, labels(read()), "%s after its caller overwrote the last answer", name)
	}
	stringReads := map[string]func() []string{
		"ListKeys":            x.ListKeys,
		"IndexKeys":           func() []string { k, _ := x.IndexKeys(byGroup, "many"); return k },
		"ListIndexFuncValues": func() []string { return x.ListIndexFuncValues(byGroup) },
	}
	for name, read := range stringReads {
		mine := read()
		want := sorted(mine)
		clear(mine[:cap(mine)])
		assert.Equal(t, want, sorted(read()), "%s after its caller overwrote the last answer", name)
	}
	mine := x.List()
	want := labels(mine)
	require.NoError(t, x.Replace([]any{member("new", 2, "g")}, "2"))
	put(t, x, member("o1", 2, "g"))
	assert.Equal(t, want, labels(mine), "what List answered, after later writes")
}

func anys(words []string) []any {
	objs := make([]any, len(words))
	for i, w := range words {
		objs[i] = w
	}
	return objs
}

// storeVersion is the resource version that a store tells: upstream's tells none
// while the feature is off.
func storeVersion(rv string) string {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return ""
	}
	return rv
}

var errIndex = errors.New("no value today")
