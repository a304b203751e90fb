package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// objectsPerNamespace is what a list by namespace returns.
const objectsPerNamespace = 1000

func namespaceOf(i int) string { return "team-" + strconv.Itoa(i/objectsPerNamespace) }
func nameOf(i int) string      { return fmt.Sprintf("web-%06d-x7k2p", i) }

// remembered keeps what was made for a size: go test runs hundreds of cases on
// the same few. The results must not be changed.
func remembered[T any](make func(n int) []T) func(n int) []T {
	var mu sync.Mutex
	made := map[int][]T{}
	return func(n int) []T {
		mu.Lock()
		defer mu.Unlock()
		if made[n] == nil {
			made[n] = make(n)
		}
		return made[n]
	}
}

var (
	stringKeys = remembered(makeStringKeys)
	pods       = remembered(makePods)
)

// makeStringKeys makes n distinct "namespace/name" keys.
func makeStringKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = namespaceOf(i) + "/" + nameOf(i)
	}
	return keys
}

// structKeys are n distinct keys as controller-runtime's reconcilers get them.
func structKeys(n int) []types.NamespacedName {
	keys := make([]types.NamespacedName, n)
	for i := range keys {
		keys[i] = types.NamespacedName{Namespace: namespaceOf(i), Name: nameOf(i)}
	}
	return keys
}

// makePods makes n pods in namespaces of a thousand, ten owners a namespace, on n/30
// nodes (the average of a full cluster). They share one spec but for the
// node's name: the components never look further.
func makePods(n int) []*corev1.Pod {
	nodes := n/30 + 1
	list := make([]*corev1.Pod, n)
	for i := range list {
		app := "app-" + strconv.Itoa(i%10)
		list[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace:       namespaceOf(i),
				Name:            nameOf(i),
				UID:             types.UID("uid-" + strconv.Itoa(i)),
				ResourceVersion: strconv.Itoa(i + 1),
				Labels:          map[string]string{"app": app},
				OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: namespaceOf(i) + "-" + app}},
			},
			Spec: corev1.PodSpec{NodeName: "node-" + strconv.Itoa(i%nodes)},
		}
	}
	return list
}

// metadata are n objects that are little more than their keys, for cases with
// more of them than pods fit into memory.
func metadata(n, version int) []*metav1.PartialObjectMetadata {
	list := make([]*metav1.PartialObjectMetadata, n)
	for i := range list {
		list[i] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespaceOf(i), Name: nameOf(i), ResourceVersion: strconv.Itoa(version),
		}}
	}
	return list
}

// newer are the same pods one resource version on.
func newer(list []*corev1.Pod) []*corev1.Pod {
	next := make([]*corev1.Pod, len(list))
	for i, p := range list {
		copied := *p
		copied.ResourceVersion = strconv.Itoa(len(list) + i + 1)
		next[i] = &copied
	}
	return next
}

// shuffled are the numbers below n in an order that no prefetcher guesses.
func shuffled(n int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, uint64(n))).Perm(n)
}
