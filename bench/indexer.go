package bench

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/impl"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

type (
	indexerVariant  = impl.Variant[impl.NewIndexer]
	indexerQuestion = question[impl.NewIndexer]
)

// indexCounts are the numbers of indices that the cases run with.
var indexCounts = []int{0, 1, 4}

// indexersOf are the first n of the indices that controllers commonly keep.
func indexersOf(n int) cache.Indexers {
	all := []struct {
		name string
		of   cache.IndexFunc
	}{
		{cache.NamespaceIndex, cache.MetaNamespaceIndexFunc},
		{"node", func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }},
		{"owner", func(obj any) ([]string, error) {
			if owner := metav1.GetControllerOfNoCopy(obj.(*corev1.Pod)); owner != nil {
				return []string{owner.Name}, nil
			}
			return []string{obj.(*corev1.Pod).OwnerReferences[0].Name}, nil
		}},
		{"app", func(obj any) ([]string, error) {
			p := obj.(*corev1.Pod)
			return []string{p.Namespace + "/" + p.Labels["app"]}, nil
		}},
	}
	indexers := cache.Indexers{}
	for _, i := range all[:n] {
		indexers[i.name] = i.of
	}
	return indexers
}

func indexerCases(seed uint64) []Case {
	var all []indexerQuestion
	for _, n := range []int{10_000, 100_000} {
		var questions []indexerQuestion
		for _, indices := range indexCounts {
			shape := fmt.Sprintf("/indices=%d/n=%s", indices, human(n))
			questions = append(questions,
				indexerQuestion{
					name: "op=build" + shape, unit: cpuTime,
					summary: "objects are added one by one to an empty indexer",
					run:     func(b *testing.B, v indexerVariant) { build(b, v, indices, n) },
				},
				indexerQuestion{
					name: "op=replace" + shape, unit: cpuTime,
					summary: "a full list replaces the contents",
					run:     func(b *testing.B, v indexerVariant) { replaceAll(b, v, indices, n) },
				},
				indexerQuestion{
					name: "op=list" + shape, unit: cpuTime,
					summary: "all objects are listed, nobody writes",
					run:     func(b *testing.B, v indexerVariant) { list(b, v, indices, n) },
				})
			if indices > 0 {
				questions = append(questions, memberQuestions(indices, n, seed)...)
			}
			for _, access := range []string{"hot", "cold"} {
				shape := "/access=" + access + shape
				questions = append(questions,
					indexerQuestion{
						name: "op=update" + shape, unit: cpuTime, quick: n == 10_000 && indices == 1 && access == "cold",
						summary: "an object's next version is stored; its index values are unchanged",
						run:     func(b *testing.B, v indexerVariant) { update(b, v, indices, n, access, seed) },
					},
					indexerQuestion{
						name: "op=delete" + shape, unit: cpuTime,
						summary: "an object is deleted and added again",
						run:     func(b *testing.B, v indexerVariant) { deleteAdd(b, v, indices, n, access, seed) },
					},
					indexerQuestion{
						name: "op=get" + shape, unit: cpuTime,
						summary: "an object is looked up by its key",
						run:     func(b *testing.B, v indexerVariant) { get(b, v, indices, n, access, seed) },
					})
			}
		}
		all = append(all, withNull(newNullIndexer(n), slices.Concat(questions, turnQuestions(n, seed), contentionQuestions(n))...)...)
	}
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		shape := "/access=cold/object=metadata/indices=1/n=" + human(n)
		all = append(all, withNull(newNullIndexer(n),
			indexerQuestion{
				name: "op=update" + shape, unit: cpuTime,
				summary: "growth: the next version of an object's metadata is stored",
				run: func(b *testing.B, v indexerVariant) {
					updateAll(b, v, 1, metadata(n, 1), metadata(n, 2), shuffled(n, seed))
				},
			},
			indexerQuestion{
				name: "op=get" + shape, unit: cpuTime,
				summary: "growth: an object's metadata is looked up by its key",
				run: func(b *testing.B, v indexerVariant) {
					getAll(b, v, 1, metadata(n, 1), shuffled(n, seed))
				},
			},
			indexerQuestion{
				name: "op=get/keys=long" + shape, unit: cpuTime,
				summary: "the same by keys of 40 to 90 bytes",
				run: func(b *testing.B, v indexerVariant) {
					getAll(b, v, 1, longNamed(n), shuffled(n, seed))
				},
			},
			indexerQuestion{
				name: "op=get/keys=absent" + shape, unit: cpuTime,
				summary: "keys are looked up that are not stored",
				run:     func(b *testing.B, v indexerVariant) { getAbsent(b, v, 1, n, seed) },
			})...)
	}
	for _, n := range []int{1, 10, 100} {
		for _, indices := range indexCounts {
			shape := fmt.Sprintf("/indices=%d/n=%d", indices, n)
			all = append(all, withNull(newNullIndexer(n),
				indexerQuestion{
					name: "op=build" + shape, unit: cpuTime,
					summary: "a small store is made and its objects are added one by one",
					run:     func(b *testing.B, v indexerVariant) { build(b, v, indices, n) },
				},
				indexerQuestion{
					name: "op=replace" + shape, unit: cpuTime,
					summary: "a full list replaces the contents of a small store",
					run:     func(b *testing.B, v indexerVariant) { replaceAll(b, v, indices, n) },
				})...)
		}
	}
	c := component[impl.NewIndexer]{"indexer", "client-go", impl.Indexers()}
	return c.cases(all...)
}

// filled is an indexer that holds list, and the live bytes an object that it
// takes beyond the objects.
func filled[O any](v indexerVariant, indices int, list []O) (cache.Indexer, float64) {
	before := liveHeap()
	s := storing(v, indices, list)
	return s, float64(liveSince(before)) / float64(len(list))
}

// storing is an indexer to which the objects in list were added one by one.
func storing[O any](v indexerVariant, indices int, list []O) cache.Indexer {
	s := v.New(cache.MetaNamespaceKeyFunc, indexersOf(indices))
	for _, p := range list {
		_ = s.Add(p) // the key function knows pods
	}
	return s
}

func checkLen(b *testing.B, s cache.Indexer, n int) {
	b.Helper()
	if got := len(s.ListKeys()); got != n {
		b.Fatalf("%d objects stored, expected %d", got, n)
	}
}

func build(b *testing.B, v indexerVariant, indices, n int) {
	list := pods(n)
	before := liveHeap()
	stores := make([]cache.Indexer, 1+1000/n) // the bytes of a small one would be lost among others
	for i := range stores {
		stores[i] = storing(v, indices, list)
	}
	live := float64(liveSince(before)) / float64(n*len(stores))
	runtime.KeepAlive(stores)
	measured(b, n, false, func() { storing(v, indices, list) })
	b.ReportMetric(live, "live-B/item")
}

func replaceAll(b *testing.B, v indexerVariant, indices, n int) {
	list := pods(n)
	objects := make([]any, n)
	for i, p := range list {
		objects[i] = p
	}
	s := storing(v, indices, list)
	measured(b, n, false, func() {
		if err := s.Replace(objects, "1"); err != nil {
			b.Fatal(err)
		}
	})
	checkLen(b, s, n)
}

func deleteAdd(b *testing.B, v indexerVariant, indices, n int, access string, seed uint64) {
	list := pods(n)
	s := storing(v, indices, list)
	order := accessOrder(n, access, seed)
	at := 0
	measured(b, 2*accessBatch, false, func() {
		for _, i := range order[at : at+accessBatch] {
			_ = s.Delete(list[i]) // the key function knows pods
			_ = s.Add(list[i])
		}
		at = (at + accessBatch) % len(order)
	})
	checkLen(b, s, n)
}

// accessBatch is how many objects a case touches before it looks at the time.
const accessBatch = 100

// accessOrder are the objects that a case touches in turn: the same batch, or
// all in an order that no prefetcher guesses.
func accessOrder(n int, access string, seed uint64) []int {
	order := shuffled(n, seed)
	if access == "hot" {
		return order[:accessBatch]
	}
	return order
}

func update(b *testing.B, v indexerVariant, indices, n int, access string, seed uint64) {
	list := pods(n)
	updateAll(b, v, indices, list, newer(list), accessOrder(n, access, seed))
}

// updateAll stores the versions in next and in list in turn.
func updateAll[O any](b *testing.B, v indexerVariant, indices int, list, next []O, order []int) {
	s, live := filled(v, indices, list)
	at := 0
	measured(b, accessBatch, false, func() {
		for _, i := range order[at : at+accessBatch] {
			_ = s.Update(next[i]) // the key function knows pods
		}
		if at += accessBatch; at == len(order) {
			at = 0
			list, next = next, list
		}
	})
	checkLen(b, s, len(list))
	b.ReportMetric(live, "live-B/item")
}

func list(b *testing.B, v indexerVariant, indices, n int) {
	s := storing(v, indices, pods(n))
	short := 0
	measured(b, n, false, func() {
		if len(s.List()) != n {
			short++
		}
	})
	if short > 0 {
		b.Fatalf("%d lists did not hold %d objects", short, n)
	}
}
