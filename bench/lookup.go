package bench

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func get(b *testing.B, v indexerVariant, indices, n int, access string, seed uint64) {
	getAll(b, v, indices, pods(n), accessOrder(n, access, seed))
}

// getAll looks the objects of list up in an order.
func getAll[O metav1.Object](b *testing.B, v indexerVariant, indices int, list []O, order []int) {
	s := storing(v, indices, list)
	if asked, found := lookUp(b, s, keysOf(list, order)); found != asked {
		b.Fatalf("%d stored objects were not found", asked-found)
	}
}

// getAbsent looks objects up that are not stored, by keys as long as theirs that are.
func getAbsent(b *testing.B, v indexerVariant, indices, n int, seed uint64) {
	list := metadata(n, 1)
	s := storing(v, indices, list)
	keys := keysOf(list, shuffled(n, seed))
	for i, key := range keys {
		keys[i] = strings.Replace(key, "/web-", "/job-", 1)
	}
	if _, found := lookUp(b, s, keys); found > 0 && v.Name != NullSink {
		b.Fatalf("%d objects were found that are not stored", found)
	}
}

// lookUp returns how many keys it asked for and how many were found.
func lookUp(b *testing.B, s cache.Indexer, keys []string) (asked, found int) {
	at := 0
	measured(b, accessBatch, false, func() {
		for _, key := range keys[at : at+accessBatch] {
			if _, exists, _ := s.GetByKey(key); exists {
				found++
			}
		}
		asked += accessBatch
		at = (at + accessBatch) % len(keys)
	})
	return asked, found
}

// keysOf are the keys of list's objects in an order, strings of their own that lie
// in list's.
func keysOf[O metav1.Object](list []O, order []int) []string {
	all, keys := make([]string, len(list)), make([]string, len(order))
	for i, o := range list {
		all[i] = o.GetNamespace() + "/" + o.GetName()
	}
	for to, i := range order {
		keys[to] = all[i]
	}
	return keys
}

// longNamed are metadata whose keys have 40 to 90 bytes.
func longNamed(n int) []*metav1.PartialObjectMetadata {
	const words = "checkout-service-for-returning-customers-in-all-regions-of-the-world"
	list := metadata(n, 1)
	for i, o := range list {
		o.Name = words[:16+i%49] + "-" + o.Name
	}
	return list
}
