package impltest

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// versionClauses are the clauses about the store's resource version.
var versionClauses = []clause[newIndexer]{
	{name: "resource-version", contract: "indexer 7", run: indexerResourceVersion,
		reason: "the store's resource version is the last written object's, list's or bookmark's: readers wait for it to pass their own writes"},
	{name: "delete-keeps-resource-version", contract: "indexer 7", run: indexerDeleteKeepsResourceVersion,
		reason: "an object that is not known, or has no metadata, says nothing about the version that the store has reached"},
}

func indexerResourceVersion(t *trial, new newIndexer) {
	x := indexerOf(new)
	expect := func(want, after string) {
		assert.Equal(t, storeVersion(want), x.LastStoreSyncResourceVersion(), "after "+after)
	}
	expect("", "nothing")
	put(t, x, object("a", 7))
	expect("7", "Add of version 7")
	require.NoError(t, x.Update(object("a", 8)))
	expect("8", "Update to version 8")
	require.NoError(t, x.Update(object("a", 5)))
	expect("5", "Update to version 5, which need not be older")
	require.NoError(t, x.Delete(object("a", 9)))
	expect("9", "Delete of version 9")
	require.NoError(t, x.Delete(object("never", 10)))
	expect("10", "Delete of version 10 of what is not there")
	require.NoError(t, x.Replace([]any{object("b", 3)}, "11"))
	expect("11", "Replace at version 11")
	x.Bookmark("12")
	expect("12", "Bookmark of version 12")
	require.NoError(t, x.Replace(nil, ""))
	expect("", "Replace at no version")
}

func indexerDeleteKeepsResourceVersion(t *trial, new newIndexer) {
	t.needs("resource-version")
	x := indexerOf(new)
	put(t, x, object("a", 7), object("b", 8), object("c", 9))
	require.NoError(t, x.Delete(lost("a", object("a", 3))))
	assert.Equal(t, storeVersion("9"), x.LastStoreSyncResourceVersion(), "after Delete of a DeletedFinalStateUnknown")
	require.NoError(t, x.Delete(cache.ExplicitKey("ns/b")))
	assert.Equal(t, storeVersion("9"), x.LastStoreSyncResourceVersion(), "after Delete of a key")
	put(t, x, cache.ExplicitKey("plain"))
	assert.Equal(t, storeVersion("9"), x.LastStoreSyncResourceVersion(), "after Add of what has no metadata")
	assert.Equal(t, "c@9 plain", labels(x.List()), "List")
}

// transactionClauses are the clauses about batches.
var transactionClauses = []clause[newIndexer]{
	{name: "transaction", contract: "indexer 8", run: indexerTransaction,
		reason: "a batch of events is applied in order; the resource version is its last object's"},
	{name: "transaction-skips-bad", contract: "indexer 8", run: indexerTransactionSkipsBad,
		reason: "one event whose object has no key does not stop the batch; the error says which entries were applied"},
	{name: "transaction-equals-calls", contract: "indexer 8", run: indexerTransactionEqualsCalls,
		reason: "a long batch leaves the store as its entries one by one do"},
}

func indexerTransaction(t *trial, new newIndexer) {
	t.needs("delete-keeps-resource-version", "index-entry-left-behind")
	x := transacting(t, indexerOf(new))
	put(t, x, member("a", 1, "g"), member("b", 1, "g"))
	err := x.Transaction(
		cache.Transaction{Type: cache.TransactionTypeAdd, Object: member("c", 2, "g")},
		cache.Transaction{Type: cache.TransactionTypeUpdate, Object: member("c", 3, "h")},
		cache.Transaction{Type: cache.TransactionTypeUpdate, Object: member("a", 4, "h")},
		cache.Transaction{Type: cache.TransactionTypeDelete, Object: lost("b", nil)},
		cache.Transaction{Type: cache.TransactionTypeAdd, Object: member("d", 5, "g")},
		cache.Transaction{Type: cache.TransactionTypeDelete, Object: member("d", 6)},
		cache.Transaction{Type: cache.TransactionTypeDelete, Object: member("e", 7)},
		cache.Transaction{Type: cache.TransactionTypeAdd, Object: member("e", 8, "g")},
	)
	assert.Nil(t, err, "the answer must be a nil *TransactionError")
	assert.Equal(t, "a@4 c@3 e@8", labels(x.List()), "List")
	assert.Equal(t, "a@4 c@3", byIndex(t, x, byGroup, "h"), "ByIndex h")
	assert.Equal(t, "e@8", byIndex(t, x, byGroup, "g"), "ByIndex g")
	assert.Equal(t, storeVersion("8"), x.LastStoreSyncResourceVersion(), "resource version")
	require.Nil(t, x.Transaction(cache.Transaction{Type: cache.TransactionTypeDelete, Object: lost("e", nil)}))
	assert.Equal(t, storeVersion("8"), x.LastStoreSyncResourceVersion(), "resource version after a last entry without one")
	assert.Nil(t, x.Transaction(), "an empty transaction")
	assert.Equal(t, "a@4 c@3", labels(x.List()), "List")
}

func indexerTransactionSkipsBad(t *trial, new newIndexer) {
	t.needs("key-error", "transaction")
	x := transacting(t, indexerOf(new))
	err := x.Transaction(updates(object("a", 1), struct{}{}, object("b", 2), 5)...)
	if err == nil {
		t.Fatalf("Transaction of two objects without a key: no error")
	}
	assert.Equal(t, "a@1 b@2", labels(x.List()), "List")
	assert.Equal(t, []int{0, 2}, err.SuccessfulIndices, "SuccessfulIndices")
	assert.Equal(t, 4, err.TotalTransactions, "TotalTransactions")
	require.Len(t, err.Errors, 2)
	for i, bad := range []any{struct{}{}, 5} {
		var keyErr cache.KeyError
		require.ErrorAs(t, err.Errors[i], &keyErr)
		assert.Equal(t, bad, keyErr.Obj)
	}
	assert.True(t, strings.HasPrefix(err.Error(), "failed to execute (2/4) transactions"), err.Error())
	assert.Equal(t, storeVersion("2"), x.LastStoreSyncResourceVersion(), "resource version")
}

func indexerTransactionEqualsCalls(t *trial, new newIndexer) {
	x, y := transacting(t, indexerOf(new)), indexerOf(new)
	rnd := t.Rand()
	var txns []cache.Transaction
	for i := range 2000 {
		obj := member(fmt.Sprint(rnd.IntN(300)), i, fmt.Sprint(rnd.IntN(5)), fmt.Sprint(rnd.IntN(50)))
		if rnd.IntN(3) == 0 {
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeDelete, Object: obj})
			require.NoError(t, y.Delete(obj))
		} else {
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj})
			require.NoError(t, y.Update(obj))
		}
	}
	require.Nil(t, x.Transaction(txns...))
	assert.Equal(t, labels(y.List()), labels(x.List()), "List")
	assert.Equal(t, sorted(y.ListIndexFuncValues(byGroup)), sorted(x.ListIndexFuncValues(byGroup)), "ListIndexFuncValues")
	for g := range 50 {
		assert.Equal(t, byIndex(t, y, byGroup, fmt.Sprint(g)), byIndex(t, x, byGroup, fmt.Sprint(g)), "ByIndex")
	}
}
