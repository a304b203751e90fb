package impltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// indexerDifferentialClauses compare an indexer with upstream's.
var indexerDifferentialClauses = []clause[newIndexer]{
	{name: "differential", contract: "indexer", run: indexerDifferential,
		reason: "on random calls every result is the one of client-go's indexer"},
}

func indexerDifferential(t *trial, new newIndexer) {
	t.needs("resource-version", "add-indexers-with-data", "key-error", "index-keys-sorted", "delete-keeps-resource-version", "replace", "multi-value-index", "empty-index-values-removed", "stored-objects", "unknown-index-error", "index-entry-left-behind", "transaction-skips-bad", "returned-slices-owned-by-caller")
	rnd := t.Rand()
	for range 25 {
		program := make([]byte, 240)
		for i := range program {
			program[i] = byte(rnd.Uint32())
		}
		if err := compareIndexers(new, program); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// compareIndexers runs a program on a new indexer and on client-go's. Two bytes
// are one call. All that can be read is compared after each.
func compareIndexers(new newIndexer, program []byte) error {
	got := new(keyOf, bothIndices())
	want := cache.NewIndexer(keyOf, bothIndices())
	var calls []string
	for version := 0; len(program) >= 2; version++ {
		call, apply := indexerCall(program[0], program[1], version, got)
		program = program[2:]
		calls = append(calls, call)
		if w, g := apply(want), apply(got); w != g {
			return fmt.Errorf("%s: %s, expected %s, after %s", call, g, w, strings.Join(calls, ", "))
		}
		w, g := readAll(want), readAll(got)
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if w[name] != g[name] {
				return fmt.Errorf("%s: %s, expected %s, after %s", name, g[name], w[name], strings.Join(calls, ", "))
			}
		}
	}
	return nil
}

// indexerCall reads a call: the lower half of what is its kind, the upper half
// are the object's groups, with is the object and how many more there are.
func indexerCall(what, with byte, version int, target cache.Indexer) (string, func(cache.Indexer) string) {
	var groups []string
	for bit, g := range []string{"p", "q", "r", "p"} {
		if what>>(4+bit)&1 == 1 {
			groups = append(groups, g)
		}
	}
	name := fmt.Sprint("o", with%8)
	obj := member(name, version, groups...)
	more := []any{obj}
	for i := range with / 64 {
		more = append(more, member(fmt.Sprint("o", (with+i*3)%8), version, groups[:len(groups)/2]...))
	}
	word := fmt.Sprintf("%s%v", label(obj), groups)
	_, transactions := target.(transactor)
	switch kind := what % 16; {
	case kind < 5:
		return "Update(" + word + ")", func(x cache.Indexer) string { return fmt.Sprint(x.Update(obj)) }
	case kind < 6:
		return "Add(" + word + ")", func(x cache.Indexer) string { return fmt.Sprint(x.Add(obj)) }
	case kind < 8:
		return "Delete(" + word + ")", func(x cache.Indexer) string { return fmt.Sprint(x.Delete(obj)) }
	case kind < 9:
		return "Delete(lost " + word + ")", func(x cache.Indexer) string { return fmt.Sprint(x.Delete(lost(name, obj))) }
	case kind < 11 && transactions:
		txns := updates(more...)
		txns[len(txns)/2].Type = cache.TransactionTypeDelete
		if with%5 == 0 {
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeUpdate, Object: struct{}{}})
		}
		return fmt.Sprintf("Transaction(%v, the %dth deletes)", labelsInOrder(more), len(txns)/2), func(x cache.Indexer) string {
			if err := x.(transactor).Transaction(txns...); err != nil {
				return fmt.Sprint(err, err.SuccessfulIndices)
			}
			return "<nil>"
		}
	case kind < 12:
		return fmt.Sprintf("Replace(%v)", labelsInOrder(more)), func(x cache.Indexer) string {
			return fmt.Sprint(x.Replace(slices.Clone(more), fmt.Sprint(version)))
		}
	case kind < 13:
		return fmt.Sprintf("Bookmark(%d)", version), func(x cache.Indexer) string { x.Bookmark(fmt.Sprint(version)); return "" }
	case kind < 14:
		added := cache.Indexers{fmt.Sprint("index", with%4): groupsOf}
		return fmt.Sprintf("AddIndexers(index%d)", with%4), func(x cache.Indexer) string { return fmt.Sprint(x.AddIndexers(added)) }
	case kind < 15:
		return "Add(key " + name + ")", func(x cache.Indexer) string { return fmt.Sprint(x.Add(cache.ExplicitKey("ns/" + name))) }
	default:
		return "Update(no key)", func(x cache.Indexer) string { return fmt.Sprint(x.Update(with)) }
	}
}

func labelsInOrder(objs []any) []string {
	words := make([]string, len(objs))
	for i, obj := range objs {
		words[i] = label(obj)
	}
	return words
}

// readAll is all that can be read from x, in words.
func readAll(x cache.Indexer) map[string]string {
	all := map[string]string{
		"List":                         labels(x.List()),
		"ListKeys":                     sorted(x.ListKeys()),
		"LastStoreSyncResourceVersion": x.LastStoreSyncResourceVersion(),
		"GetIndexers":                  sorted(slices.Collect(maps.Keys(x.GetIndexers()))),
	}
	for k := range 8 {
		key := fmt.Sprint("ns/o", k)
		obj, exists, err := x.GetByKey(key)
		all["GetByKey("+key+")"] = fmt.Sprint(label(obj), exists, err)
	}
	for _, index := range []string{byGroup, "index0", "index1", "index2", "index3"} {
		all["ListIndexFuncValues("+index+")"] = sorted(x.ListIndexFuncValues(index))
		for _, value := range []string{"p", "q", "r"} {
			objs, err := x.ByIndex(index, value)
			all["ByIndex("+index+", "+value+")"] = fmt.Sprint(labels(objs), err)
			keys, err := x.IndexKeys(index, value)
			all["IndexKeys("+index+", "+value+")"] = fmt.Sprint(keys, err)
		}
		for _, groups := range [][]string{{"p"}, {"p", "q"}, {"r", "q", "p"}} {
			objs, err := x.Index(index, member("x", 0, groups...))
			all[fmt.Sprintf("Index(%s, %v)", index, groups)] = fmt.Sprint(labels(objs), err)
		}
	}
	all["ListIndexFuncValues("+byVersion+")"] = sorted(x.ListIndexFuncValues(byVersion))
	return all
}
