package bench

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// memberQuestions are the cases that read the thousand objects of a namespace through
// its index. They were stored in a row, as a list brings them, or at random, as they
// lie once objects have come and gone, and as members of other indices always do.
func memberQuestions(indices, n int, seed uint64) []indexerQuestion {
	var questions []indexerQuestion
	for _, order := range []struct{ name, summary string }{
		{"", ""}, {"/order=random", ", which were stored at random"},
	} {
		shape := fmt.Sprintf("/members=1k%s/indices=%d/n=%s", order.name, indices, human(n))
		stored := func() []*corev1.Pod {
			if order.name == "" {
				return pods(n)
			}
			return inOrder(pods(n), shuffled(n, seed))
		}
		if order.name == "" || indices == 1 { // more of them make no difference
			questions = append(questions,
				indexerQuestion{
					name: "op=by-index" + shape, unit: cpuTime,
					summary: "a namespace of a thousand objects is listed through its index" + order.summary,
					run:     func(b *testing.B, v indexerVariant) { byIndex(b, v, indices, stored()) },
				})
		}
		if indices == 1 {
			questions = append(questions,
				indexerQuestion{
					name: "op=iterate" + shape, unit: cpuTime,
					summary: "a loop over a namespace of a thousand objects" + order.summary + ", without a copy where the indexer can",
					run:     func(b *testing.B, v indexerVariant) { iterate(b, v, indices, stored()) },
				})
		}
	}
	return questions
}

// turnQuestions are the cases in which each write is followed by a read of a few
// objects, as where a controller handles an event.
func turnQuestions(n int, seed uint64) []indexerQuestion {
	var questions []indexerQuestion
	for _, related := range []struct {
		members, index, of string
	}{{"30", "node", "node"}, {"100", "app", "application"}} {
		questions = append(questions, indexerQuestion{
			name: fmt.Sprintf("op=update-then-read/members=%s/indices=4/n=%s", related.members, human(n)), unit: cpuTime,
			summary: "an object's next version is stored and the pods of its " + related.of + " are read, one after the other",
			run:     func(b *testing.B, v indexerVariant) { updateThenRead(b, v, related.index, n, seed) },
		})
	}
	return questions
}

func updateThenRead(b *testing.B, v indexerVariant, index string, n int, seed uint64) {
	list, order := pods(n), shuffled(n, seed)
	next := newer(list)
	s := storing(v, 4, list)
	at, stale := 0, 0
	measured(b, accessBatch, false, func() {
		for _, i := range order[at : at+accessBatch] {
			_ = s.Update(next[i]) // the key function knows pods
			found, _ := s.Index(index, next[i])
			if !slices.Contains(found, any(next[i])) {
				stale++
			}
		}
		if at += accessBatch; at == len(order) {
			at = 0
			list, next = next, list
		}
	})
	if stale > 0 && v.Name != NullSink {
		b.Fatalf("%d reads did not hold the object that was stored before", stale)
	}
}

// inOrder is list in an order.
func inOrder[O any](list []O, order []int) []O {
	ordered := make([]O, len(list))
	for to, i := range order {
		ordered[to] = list[i]
	}
	return ordered
}

func byIndex(b *testing.B, v indexerVariant, indices int, list []*corev1.Pod) {
	s := storing(v, indices, list)
	members(b, len(list), func(value string) int {
		found, _ := s.ByIndex(cache.NamespaceIndex, value) // without an index it is empty
		return len(found)
	})
}

func iterate(b *testing.B, v indexerVariant, indices int, list []*corev1.Pod) {
	s := storing(v, indices, list)
	all := func(name, value string) (iter.Seq[any], error) {
		found, err := s.ByIndex(name, value)
		return slices.Values(found), err
	}
	if own, ok := s.(interface {
		AllByIndex(name, value string) (iter.Seq[any], error)
	}); ok {
		all = own.AllByIndex
	}
	members(b, len(list), func(value string) (found int) {
		seq, _ := all(cache.NamespaceIndex, value) // without an index it is empty
		for range seq {
			found++
		}
		return found
	})
}

// members counts the objects of one namespace after the other, which hold n.
func members(b *testing.B, n int, count func(value string) int) {
	wrong, at := 0, 0
	measured(b, objectsPerNamespace, false, func() {
		if count(namespaceOf(at)) != objectsPerNamespace {
			wrong++
		}
		at = (at + objectsPerNamespace) % n
	})
	if wrong > 0 {
		b.Fatalf("%d results did not hold the namespace's %d objects", wrong, objectsPerNamespace)
	}
}
