package impltest

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// indexClauses are the clauses about what the indices hold.
var indexClauses = []clause[newIndexer]{
	{name: "index-entry-left-behind", contract: "indexer 1", run: indexerIndexEntryLeftBehind,
		reason: "an object is found under its present values only: a controller would reconcile the owner of an object that left it"},
	{name: "multi-value-index", contract: "indexer 1", run: indexerMultiValueIndex,
		reason: "an object is found under each of its values, once; values that stay, come and go in one update are all right (kubernetes/kubernetes#142307)"},
	{name: "empty-index-values-removed", contract: "indexer 5", run: indexerEmptyIndexValuesRemoved,
		reason: "a value that no object has any more is gone, or an index of short-lived objects grows for ever (kubernetes/kubernetes#84959)"},
	{name: "index-keys-sorted", contract: "indexer 4", run: indexerIndexKeysSorted,
		reason: "IndexKeys answers in order, as upstream's does"},
	{name: "unknown-index-error", contract: "indexer 4", run: indexerUnknownIndexError,
		reason: "a read of an index that was never added is an error, not an empty answer"},
	{name: "add-indexers-with-data", contract: "indexer 2", run: indexerAddIndexersWithData,
		reason: "an index that is added later finds what is stored already, and what comes"},
	{name: "indexer-conflict-changes-nothing", contract: "indexer 2", run: indexerConflictChangesNothing,
		reason: "a name that is taken is an error, and none of the call's indexers is added"},
	{name: "indexers-owned-by-store", contract: "indexer 2", run: indexersOwnedByStore,
		reason: "adding indexers changes neither the map that the caller made the store from, nor one that GetIndexers answered: both are read beside it"},
}

func indexerIndexEntryLeftBehind(t *trial, new newIndexer) {
	t.needs("replace")
	x := indexerOf(new)
	expect := func(after, g, h string) {
		assert.Equal(t, g, byIndex(t, x, byGroup, "g"), "ByIndex g after "+after)
		assert.Equal(t, h, byIndex(t, x, byGroup, "h"), "ByIndex h after "+after)
		gKeys, err := x.IndexKeys(byGroup, "g")
		require.NoError(t, err)
		assert.Len(t, gKeys, len(strings.Fields(g)), "IndexKeys g after "+after)
	}
	put(t, x, member("a", 1, "g"), member("b", 1, "g"), member("c", 1, "h"))
	expect("Add", "a@1 b@1", "c@1")
	require.NoError(t, x.Update(member("a", 2, "h")))
	expect("Update that changes the value", "b@1", "a@2 c@1")
	require.NoError(t, x.Update(member("c", 2)))
	expect("Update that drops the value", "b@1", "a@2")
	require.NoError(t, x.Update(member("c", 3, "g")))
	expect("Update that brings a value", "b@1 c@3", "a@2")
	require.NoError(t, x.Delete(lost("b", nil)))
	expect("Delete", "c@3", "a@2")
	put(t, x, member("b", 4, "h"))
	expect("Add of the deleted key", "c@3", "a@2 b@4")
	require.NoError(t, x.Replace([]any{member("a", 5, "g"), member("d", 1, "h")}, "6"))
	expect("Replace", "a@5", "d@1")
	require.NoError(t, x.Update(member("a", 6, "h")))
	expect("Update after Replace", "", "a@6 d@1")
}

func indexerMultiValueIndex(t *trial, new newIndexer) {
	t.needs("replace", "empty-index-values-removed", "index-entry-left-behind")
	x := indexerOf(new)
	groups := []string{"p", "q", "r", "s"}
	rnd := t.Rand()
	current := map[string][]string{}
	for version := range 400 {
		name := fmt.Sprint("o", rnd.IntN(6))
		var mine []string
		for range rnd.IntN(6) {
			mine = append(mine, groups[rnd.IntN(len(groups))]) // repetitions too
		}
		require.NoError(t, x.Update(member(name, version, mine...)))
		current[name] = mine
		wanted := map[string]map[string]bool{} // group → keys
		for n, gs := range current {
			for _, g := range gs {
				if wanted[g] == nil {
					wanted[g] = map[string]bool{}
				}
				wanted[g]["ns/"+n] = true
			}
		}
		for _, g := range groups {
			keys, err := x.IndexKeys(byGroup, g)
			require.NoError(t, err)
			if len(keys) != len(wanted[g]) {
				t.Fatalf("IndexKeys(%s): %v, expected the keys of %v", g, keys, wanted[g])
			}
			for _, key := range keys {
				if !wanted[g][key] {
					t.Fatalf("IndexKeys(%s): %v, expected the keys of %v", g, keys, wanted[g])
				}
			}
		}
		if got := x.ListIndexFuncValues(byGroup); len(got) != len(wanted) {
			t.Fatalf("ListIndexFuncValues: %v, expected the keys of %v", got, wanted)
		}
	}
	require.NoError(t, x.Replace([]any{member("a", 1, "p", "q"), member("b", 1, "q", "r"), member("c", 1, "s")}, "1"))
	objs, err := x.Index(byGroup, member("x", 1, "p", "q", "r"))
	require.NoError(t, err)
	assert.Equal(t, "a@1 b@1", labels(objs), "Index of an object that shares two values with a")
}

func indexerEmptyIndexValuesRemoved(t *trial, new newIndexer) {
	t.needs("replace", "multi-value-index", "index-entry-left-behind")
	x := indexerOf(new)
	for i := range 100 {
		put(t, x, member(fmt.Sprint("o", i), 1, fmt.Sprint("g", i), "all"))
	}
	assert.Len(t, x.ListIndexFuncValues(byGroup), 101, "values of 100 objects")
	for i := range 50 {
		require.NoError(t, x.Delete(object(fmt.Sprint("o", i), 1)))
	}
	assert.Len(t, x.ListIndexFuncValues(byGroup), 51, "values after Delete of 50 objects")
	for i := 50; i < 99; i++ {
		require.NoError(t, x.Update(member(fmt.Sprint("o", i), 2, "all")))
	}
	assert.Equal(t, "all g99", sorted(x.ListIndexFuncValues(byGroup)), "values after Update of 49 objects")
	require.NoError(t, x.Replace([]any{member("a", 1, "z")}, "3"))
	assert.Equal(t, "z", sorted(x.ListIndexFuncValues(byGroup)), "values after Replace")
	require.NoError(t, x.Delete(object("a", 1)))
	assert.Empty(t, x.ListIndexFuncValues(byGroup), "values of an empty store")
}

func indexerIndexKeysSorted(t *trial, new newIndexer) {
	t.needs("multi-value-index")
	x := indexerOf(new)
	var want []string
	for i := range 200 {
		name := fmt.Sprintf("o%03d", i)
		want = append(want, "ns/"+name)
		put(t, x, member(name, 1, "g", fmt.Sprint("g", i/10)))
	}
	keys, err := x.IndexKeys(byGroup, "g")
	require.NoError(t, err)
	assert.Equal(t, want, keys)
	keys, err = x.IndexKeys(byGroup, "g7")
	require.NoError(t, err)
	assert.Equal(t, want[70:80], keys)
}

func indexerUnknownIndexError(t *trial, new newIndexer) {
	x := indexerOf(new)
	put(t, x, member("a", 1, "g"))
	_, byErr := x.ByIndex("unknown", "g")
	_, keysErr := x.IndexKeys("unknown", "g")
	_, indexErr := x.Index("unknown", member("a", 1, "g"))
	for name, err := range map[string]error{"ByIndex": byErr, "IndexKeys": keysErr, "Index": indexErr} {
		assert.EqualError(t, err, "Index with name unknown does not exist", name)
	}
}

func indexerAddIndexersWithData(t *trial, new newIndexer) {
	t.needs("replace", "index-entry-left-behind")
	x := new(keyOf, cache.Indexers{})
	put(t, x, member("a", 1, "g"), member("b", 1, "g", "h"), cache.ExplicitKey("plain"))
	require.NoError(t, x.AddIndexers(cache.Indexers{byGroup: groupsOf}))
	assert.Equal(t, "a@1 b@1", byIndex(t, x, byGroup, "g"), "ByIndex of stored objects")
	require.NoError(t, x.AddIndexers(cache.Indexers{byVersion: versionOf}))
	assert.Equal(t, "a@1 b@1", byIndex(t, x, byVersion, "1"), "ByIndex of a second index")
	assert.Equal(t, "a@1 b@1", byIndex(t, x, byGroup, "g"), "ByIndex of the first index, then")
	put(t, x, member("c", 2, "h"))
	require.NoError(t, x.Update(member("a", 2, "h")))
	require.NoError(t, x.Delete(object("b", 2)))
	assert.Empty(t, byIndex(t, x, byGroup, "g"), "ByIndex g")
	assert.Equal(t, "a@2 c@2", byIndex(t, x, byGroup, "h"), "ByIndex h")
	assert.Equal(t, "a@2 c@2", byIndex(t, x, byVersion, "2"), "ByIndex of a version")
	names := make([]string, 0, 2)
	for name, fn := range x.GetIndexers() {
		names = append(names, name)
		assert.NotNil(t, fn, name)
	}
	assert.Equal(t, "group version", sorted(names), "GetIndexers")
	require.NoError(t, x.Replace([]any{member("z", 3, "h")}, "3"))
	assert.Equal(t, "z@3", byIndex(t, x, byGroup, "h"), "ByIndex after Replace")
}

func indexerConflictChangesNothing(t *trial, new newIndexer) {
	t.needs("unknown-index-error")
	x := indexerOf(new)
	put(t, x, member("a", 1, "g"))
	other := func(any) ([]string, error) { return []string{"other"}, nil }
	for range 20 { // maps have many orders
		err := x.AddIndexers(cache.Indexers{"new1": other, byGroup: other, "new2": other})
		if err == nil {
			t.Fatalf("AddIndexers with a name that is taken: no error")
		}
		assert.EqualError(t, err, "indexer conflict: map[group:{}]")
		assert.Len(t, x.GetIndexers(), 2, "indexers")
		_, err = x.ByIndex("new1", "other")
		assert.Error(t, err, "ByIndex of an index that was refused")
		assert.Equal(t, "a@1", byIndex(t, x, byGroup, "g"), "ByIndex of the index there was")
		assert.Equal(t, "g", sorted(x.ListIndexFuncValues(byGroup)), "its values")
	}
}

func indexersOwnedByStore(t *trial, new newIndexer) {
	mine := bothIndices()
	x := new(keyOf, mine)
	got := x.GetIndexers()
	require.NoError(t, x.AddIndexers(cache.Indexers{"new": groupsOf}))
	assert.Len(t, mine, 2, "the caller's map")
	assert.Len(t, got, 2, "the answer of GetIndexers")
	clear(x.GetIndexers())
	assert.Len(t, x.GetIndexers(), 3, "indexers after a caller cleared its answer")
}

// unlucky is an index function that fails for objects of version 13.
func unlucky(obj any) ([]string, error) {
	vals, _ := versionOf(obj)
	if len(vals) == 1 && vals[0] == "13" {
		return nil, errIndex
	}
	return vals, nil
}

func unluckyIndexers() cache.Indexers {
	return cache.Indexers{byGroup: groupsOf, "unlucky": unlucky}
}

// indexFuncWrites are the writes that call an index function.
func indexFuncWrites(x cache.Indexer) map[string]func() {
	bad := member("a", 13, "h")
	writes := map[string]func(){
		"Add":    func() { _ = x.Add(bad) },
		"Update": func() { _ = x.Update(bad) },
	}
	if tx, ok := x.(transactor); ok {
		writes["Transaction"] = func() { tx.Transaction(updates(member("c", 5, "g"), bad)...) }
	}
	writes["Replace"] = func() { _ = x.Replace([]any{member("c", 5, "g"), bad}, "13") }
	return writes
}

// answers tells whether f returns; it gives up only on what is plainly stuck.
func answers(t *trial, f func()) bool { return yieldUntil(t.Go(f)) }

// panicOf is what f panics with.
func panicOf(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

var indexFuncClauses = []clause[newIndexer]{
	{name: "index-func-error-panics", contract: "indexer 3", run: indexerIndexFuncErrorPanics,
		reason: "an index function's error is a panic with upstream's message, and the panic leaves no lock held: the informer's crash handler reads the store"},
	{name: "index-func-error-changes-nothing", contract: "indexer 3", run: indexerIndexFuncErrorChangesNothing,
		reason: "an object whose index values are unknown is not stored, or it would be there and yet not be found by index"},
	{name: "index-func-error-of-reads", contract: "indexer 3", run: indexerIndexFuncErrorOfReads,
		reason: "an index function's error in Index is answered, as the object is the caller's and not the store's"},
}

func indexerIndexFuncErrorPanics(t *trial, new newIndexer) {
	t.needs("add-indexers-with-data", "replace")
	for name, write := range indexFuncWrites(new(keyOf, unluckyIndexers())) {
		x := new(keyOf, unluckyIndexers())
		put(t, x, member("a", 1, "g"), member("b", 1, "g"))
		write = indexFuncWrites(x)[name]
		if !answers(t, func() {
			want := `unable to calculate an index entry for key "ns/a" on index "unlucky": no value today`
			assert.Equal(t, want, fmt.Sprint(panicOf(write)), "panic of "+name)
		}) {
			t.Fatalf("%s with an index function that fails does not return", name)
		}
		if !answers(t, func() {
			x.List()
			_, _ = x.ByIndex(byGroup, "g")
			_, _, _ = x.GetByKey("ns/a")
			_, _, _ = x.GetByKey("ns/c")
			_ = x.Update(member("b", 2, "h"))
			_ = x.Update(member("c", 2, "h"))
			_ = x.Replace([]any{member("z", 3, "h")}, "3")
			assert.Equal(t, "z@3", labels(x.List()), "List")
			assert.Equal(t, "z@3", byIndex(t, x, byGroup, "h"), "ByIndex")
		}) {
			t.Fatalf("after the panic of %s the store is locked for ever", name)
		}
	}
	x := new(keyOf, cache.Indexers{})
	put(t, x, member("a", 13))
	if !answers(t, func() {
		want := `unable to calculate an index entry for key "ns/a" on index "unlucky": no value today`
		assert.Equal(t, want, fmt.Sprint(panicOf(func() { _ = x.AddIndexers(unluckyIndexers()) })), "panic of AddIndexers")
		put(t, x, cache.ExplicitKey("plain"))
		x.List()
	}) {
		t.Fatalf("after the panic of AddIndexers the store is locked for ever")
	}
}

func indexerIndexFuncErrorChangesNothing(t *trial, new newIndexer) {
	t.needs("index-func-error-panics")
	for name := range indexFuncWrites(new(keyOf, unluckyIndexers())) {
		x := new(keyOf, unluckyIndexers())
		put(t, x, member("a", 1, "g"), member("b", 1, "g"))
		write := indexFuncWrites(x)[name]
		if !answers(t, func() {
			panicOf(write)
			assert.Equal(t, "a@1 b@1", labels(x.List()), "List after the panic of "+name)
			assert.Equal(t, "a@1 b@1", byIndex(t, x, byGroup, "g"), "ByIndex after the panic of "+name)
			assert.Equal(t, "a@1 b@1", byIndex(t, x, "unlucky", "1"), "ByIndex of the failing index after the panic of "+name)
		}) {
			t.Fatalf("stuck in or after %s", name)
		}
	}
}

func indexerIndexFuncErrorOfReads(t *trial, new newIndexer) {
	x := new(keyOf, unluckyIndexers())
	put(t, x, member("a", 1, "g"))
	_, err := x.Index("unlucky", member("x", 13))
	assert.ErrorIs(t, err, errIndex)
	objs, err := x.Index("unlucky", member("x", 1))
	require.NoError(t, err)
	assert.Equal(t, "a@1", labels(objs), "Index")
}
