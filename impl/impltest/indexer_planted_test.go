package impltest

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// A plantedIndexer is an indexer that is sound but for one fault.
type plantedIndexer struct {
	fault    string
	keyFunc  cache.KeyFunc
	mu       sync.RWMutex
	items    map[string]any
	indexers cache.Indexers
	indices  map[string]map[string]sets.Set[string]
	rv       string
	leak     []any
	listed   []any
	listedRV string
}

func newPlantedIndexer(fault string) newIndexer {
	return func(keyFunc cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
		x := &plantedIndexer{fault: fault, keyFunc: keyFunc, indexers: maps.Clone(indexers)}
		if fault == "indexers-shared" {
			x.indexers = indexers
		}
		x.clear()
		if fault == "no-transaction" {
			return struct{ cache.Indexer }{x}
		}
		return x
	}
}

func (x *plantedIndexer) clear() {
	x.items = map[string]any{}
	x.indices = map[string]map[string]sets.Set[string]{}
	for name := range x.indexers {
		x.indices[name] = map[string]sets.Set[string]{}
	}
}

func (x *plantedIndexer) is(fault string) bool { return x.fault == fault }

// pause gives the lock away in the middle of something, if that is the fault.
func (x *plantedIndexer) pause(fault string) {
	if x.is(fault) {
		x.mu.Unlock()
		runtime.Gosched()
		x.mu.Lock()
	}
}

func (x *plantedIndexer) key(obj any) (string, error) {
	key, err := x.keyFunc(obj)
	switch {
	case err == nil:
		return key, nil
	case x.is("plain-key-error"):
		return "", err
	default:
		return "", cache.KeyError{Obj: obj, Err: err}
	}
}

func (x *plantedIndexer) values(name, key string, obj any) []string {
	vals, err := x.indexers[name](obj)
	switch {
	case err == nil:
	case x.is("error-swallowed"):
	case x.is("other-message"):
		panic(err)
	default:
		panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %v", key, name, err))
	}
	if x.is("first-value-only") && len(vals) > 1 {
		vals = vals[:1]
	}
	return vals
}

// put stores obj, or nothing if it is nil.
func (x *plantedIndexer) put(key string, obj any) {
	old, had := x.items[key]
	if x.is("stored-before-panic") && obj != nil {
		x.items[key] = obj
	}
	before, after := map[string][]string{}, map[string][]string{}
	for name := range x.indexers {
		if had {
			before[name] = x.values(name, key, old)
		}
		if obj != nil {
			after[name] = x.values(name, key, obj)
		}
	}
	unchanged := had && obj != nil && fmt.Sprint(before) == fmt.Sprint(after)
	switch {
	case obj == nil:
		delete(x.items, key)
		if x.is("leaked-reference") {
			x.leak = append(x.leak, old)
		}
	case !x.is("lost-update") || !had || fmt.Sprint(before[byGroup]) != fmt.Sprint(after[byGroup]):
		x.items[key] = obj
	}
	x.pause("index-after-object")
	if unchanged || x.is("left-on-update") && obj != nil {
		before = nil
	}
	if x.is("left-on-delete") && obj == nil {
		before = nil
	}
	if _, plain := obj.(cache.ExplicitKey); plain && x.is("left-on-plain-update") {
		before = nil
	}
	for name := range x.indexers {
		index := x.indices[name]
		for _, v := range before[name] {
			index[v].Delete(key)
			if index[v].Len() == 0 && !x.is("empty-values-kept") {
				delete(index, v)
			}
		}
		for _, v := range after[name] {
			if index[v] == nil {
				index[v] = sets.Set[string]{}
			}
			index[v].Insert(key)
		}
	}
}

func (x *plantedIndexer) observe(obj any) {
	if m, err := meta.Accessor(obj); err == nil {
		x.rv = m.GetResourceVersion()
	} else if x.is("version-forgotten") {
		x.rv = ""
	}
}

func (x *plantedIndexer) Update(obj any) error {
	key, err := x.key(obj)
	if err != nil {
		return err
	}
	x.mu.Lock()
	if x.is("lock-kept") {
		x.put(key, obj)
		x.observe(obj)
		x.mu.Unlock()
		return nil
	}
	defer x.mu.Unlock()
	if x.is("check-then-act") { // works on a copy of the objects, without the lock
		items := maps.Clone(x.items)
		x.mu.Unlock()
		runtime.Gosched()
		x.mu.Lock()
		x.items = items
	}
	x.put(key, obj)
	if !x.is("stale-version") {
		x.observe(obj)
	}
	return nil
}

func (x *plantedIndexer) Add(obj any) error { return x.Update(obj) }

func (x *plantedIndexer) Delete(obj any) error {
	key, err := x.key(obj)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.put(key, nil)
	if !x.is("version-kept-on-delete") {
		x.observe(obj)
	}
	return nil
}

func (x *plantedIndexer) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, txn := range txns { // before anything changes
		if key, err := x.key(txn.Object); err == nil && txn.Type != cache.TransactionTypeDelete {
			for name := range x.indexers {
				x.values(name, key, txn.Object)
			}
		}
	}
	if x.is("long-batch-cut") {
		txns = txns[:min(len(txns), 1000)]
	}
	var errs []error
	var done []int
	for i, txn := range txns {
		key, err := x.key(txn.Object)
		if err != nil {
			errs = append(errs, err)
			if x.is("stops-at-bad") {
				break
			}
			continue
		}
		done = append(done, i)
		if txn.Type == cache.TransactionTypeDelete {
			x.put(key, nil)
		} else {
			x.put(key, txn.Object)
		}
		if !x.is("transaction-version") || i == 0 {
			x.observe(txn.Object)
		}
		x.pause("transaction-one-by-one")
	}
	if errs == nil || x.is("bad-unreported") {
		return nil
	}
	return &cache.TransactionError{SuccessfulIndices: done, TotalTransactions: len(txns), Errors: errs}
}

func (x *plantedIndexer) Replace(list []any, rv string) error {
	items := map[string]any{}
	for _, obj := range list {
		key, err := x.key(obj)
		if err != nil {
			return err
		}
		items[key] = obj
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, obj := range items { // before anything changes
		for name := range x.indexers {
			x.values(name, key, obj)
		}
	}
	if !x.is("replace-adds") {
		x.clear()
	}
	x.pause("replace-in-steps")
	for key, obj := range items {
		x.put(key, obj)
	}
	x.rv = rv
	return nil
}

func (x *plantedIndexer) Bookmark(rv string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.is("bookmark-ignored") {
		x.rv = rv
	}
}

func (x *plantedIndexer) LastStoreSyncResourceVersion() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return storeVersion(x.rv)
}

func (x *plantedIndexer) Get(obj any) (any, bool, error) {
	key, err := x.key(obj)
	if err != nil {
		return nil, false, err
	}
	return x.GetByKey(key)
}

func (x *plantedIndexer) GetByKey(key string) (any, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	obj, ok := x.items[key]
	return obj, ok, nil
}

func (x *plantedIndexer) List() []any {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.is("shared-list") && x.listed != nil && x.listedRV == x.rv && len(x.listed) == len(x.items) {
		return x.listed
	}
	keys := slices.Sorted(maps.Keys(x.items))
	objs := make([]any, 0, len(keys))
	for i, key := range keys {
		if i == 1 {
			x.pause("torn-list")
		}
		if obj, ok := x.items[key]; ok {
			objs = append(objs, obj)
		}
	}
	x.listed, x.listedRV = nil, x.rv
	if x.is("shared-list") {
		x.listed = objs
	}
	if x.is("nil-results") && len(objs) == 0 {
		return nil
	}
	return objs
}

func (x *plantedIndexer) ListKeys() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.AppendSeq([]string{}, maps.Keys(x.items))
}

func (x *plantedIndexer) keys(name string, vals []string) []string {
	keys := []string{}
	for _, v := range vals {
		keys = slices.AppendSeq(keys, maps.Keys(x.indices[name][v]))
	}
	slices.Sort(keys)
	if !x.is("index-repeats") {
		keys = slices.Compact(keys)
	}
	return keys
}

func (x *plantedIndexer) having(name string, vals ...string) ([]any, error) {
	if x.indexers[name] == nil && !x.is("unknown-is-empty") {
		return nil, errors.New("Index with name " + name + " does not exist") //nolint:staticcheck // upstream's words
	}
	keys := x.keys(name, vals)
	x.pause("torn-by-index")
	objs := make([]any, 0, len(keys))
	for _, key := range keys {
		if obj, ok := x.items[key]; ok {
			objs = append(objs, obj)
		}
	}
	return objs, nil
}

func (x *plantedIndexer) Index(name string, obj any) ([]any, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var vals []string
	if fn := x.indexers[name]; fn != nil {
		var err error
		if vals, err = fn(obj); err != nil && !x.is("read-error-swallowed") {
			return nil, err
		}
	}
	return x.having(name, vals...)
}

func (x *plantedIndexer) ByIndex(name, value string) ([]any, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.having(name, value)
}

func (x *plantedIndexer) IndexKeys(name, value string) ([]string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, err := x.having(name); err != nil {
		return nil, err
	}
	keys := x.keys(name, []string{value})
	if x.is("keys-unsorted") {
		slices.Reverse(keys)
	}
	return keys, nil
}

func (x *plantedIndexer) ListIndexFuncValues(name string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.AppendSeq([]string{}, maps.Keys(x.indices[name]))
}

func (x *plantedIndexer) GetIndexers() cache.Indexers {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.is("indexers-shared") {
		return x.indexers
	}
	return maps.Clone(x.indexers)
}

func (x *plantedIndexer) AddIndexers(added cache.Indexers) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	both := sets.KeySet(x.indexers).Intersection(sets.KeySet(added))
	all := maps.Clone(x.indexers)
	if x.is("indexers-shared") && both.Len() == 0 {
		all = x.indexers
	}
	for name, fn := range added {
		if !both.Has(name) || x.is("conflict-replaces") {
			all[name] = fn
		}
	}
	if both.Len() > 0 && !x.is("conflict-adds-others") && !x.is("conflict-replaces") {
		return fmt.Errorf("indexer conflict: %v", both)
	}
	x.indexers = all
	for name := range added {
		x.indices[name] = map[string]sets.Set[string]{}
	}
	if x.is("data-ignored") {
		return nil
	}
	items := x.items
	x.clear()
	for key, obj := range items {
		x.put(key, obj)
	}
	if both.Len() > 0 {
		return fmt.Errorf("indexer conflict: %v", both)
	}
	return nil
}

func (x *plantedIndexer) Resync() error { return nil }
