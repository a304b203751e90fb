package main

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func cacheCases() []benchCase {
	return []benchCase{
		{"delta-fifo", "op=burst/n=1k", "n objects change once each, then all are popped", cpuTime, burst},
		{"indexer", "op=update/indices=2/n=10k", "an object changes, its index values don't", cpuTime, update},
		{"indexer", "op=list/n=10k", "all objects are listed; an item is an object", cpuTime, list},
		{"indexer", "op=by-index/n=10k", "the objects of one namespace are listed; an item is an object", cpuTime, byIndex},
	}
}

const perNamespace = 1000

func pods(n, version int) []*corev1.Pod {
	list := make([]*corev1.Pod, n)
	for i, key := range keys(n) {
		namespace, name, _ := cache.SplitMetaNamespaceKey(key)
		list[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, UID: types.UID("uid-" + strconv.Itoa(i)),
				ResourceVersion: strconv.Itoa(version + i), Labels: map[string]string{"app": "app-" + strconv.Itoa(i%10)},
			},
			Spec: corev1.PodSpec{NodeName: "node-" + strconv.Itoa(i/30)},
		}
	}
	return list
}

func burst(b *testing.B) {
	f := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{EmitDeltaTypeReplaced: true})
	list, popped, failed := pods(1000, 1), 0, 0
	pop := func(any, bool) error { popped++; return nil }
	rounds := 0
	measured(b, len(list), func() {
		for _, p := range list {
			if f.Update(p) != nil {
				failed++
			}
		}
		for range list {
			if _, err := f.Pop(pop); err != nil {
				failed++
			}
		}
		rounds++
	})
	if failed > 0 || popped != rounds*len(list) {
		b.Fatalf("%d calls failed, %d objects popped, expected %d", failed, popped, rounds*len(list))
	}
}

func newIndexer(b *testing.B, list []*corev1.Pod) cache.Indexer {
	b.Helper()
	x := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"node":               func(o any) ([]string, error) { return []string{o.(*corev1.Pod).Spec.NodeName}, nil },
	})
	for _, p := range list {
		if err := x.Add(p); err != nil {
			b.Fatal(err)
		}
	}
	return x
}

func update(b *testing.B) {
	const n, batch = 10_000, 100
	versions := [2][]*corev1.Pod{pods(n, 1), pods(n, 1+n)}
	x := newIndexer(b, versions[0])
	at, version, failed := 0, 1, 0
	measured(b, batch, func() {
		for _, p := range versions[version][at : at+batch] {
			if x.Update(p) != nil {
				failed++
			}
		}
		if at = (at + batch) % n; at == 0 {
			version = 1 - version
		}
	})
	if failed > 0 || len(x.ListKeys()) != n {
		b.Fatalf("%d updates failed, %d objects stored, expected %d", failed, len(x.ListKeys()), n)
	}
}

func list(b *testing.B) {
	const n = 10_000
	x := newIndexer(b, pods(n, 1))
	short := 0
	measured(b, n, func() {
		if len(x.List()) != n {
			short++
		}
	})
	if short > 0 {
		b.Fatalf("%d lists did not hold %d objects", short, n)
	}
}

func byIndex(b *testing.B) {
	x := newIndexer(b, pods(10_000, 1))
	short := 0
	measured(b, perNamespace, func() {
		if got, err := x.ByIndex(cache.NamespaceIndex, "team-3"); err != nil || len(got) != perNamespace {
			short++
		}
	})
	if short > 0 {
		b.Fatalf("%d lists did not hold %d objects", short, perNamespace)
	}
}
