#!/usr/bin/env bash
# Builds a small controller with client-go's queue and informer, then with the library's
# in their place, and prints how large the binaries are.
# usage: scripts/binary-growth.sh
set -euo pipefail
cd "$(dirname "$0")/../impl"
library=$PWD
client_go=$(go list -m -f '{{.Version}}' k8s.io/client-go)
temp=$(mktemp -d)
trap 'rm -rf -- "$temp"' EXIT
cd "$temp"
export GOWORK=off GOFLAGS='-mod=mod -trimpath'
cat >go.mod <<EOF
module example.com/controller

go 1.25.0

require k8s.io/client-go $client_go
replace github.com/informerbench/informerbench/impl => $library
EOF

# controller QUEUE INFORMER [IMPORT...]: prints the size of one with that queue and informer.
controller() {
  cat >main.go <<EOF
package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	$(printf '"%s"\n\t' "${@:3}" | grep -v '""')
)

func main() {
	ctx := context.Background()
	config, err := rest.InClusterConfig()
	if err != nil {
		panic(err)
	}
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods(metav1.NamespaceAll)
	queue := $1[string](), workqueue.TypedRateLimitingQueueConfig[string]{})
	store := $2(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return pods.List(ctx, o) },
		WatchFuncWithContext: pods.Watch,
	}, &corev1.Pod{}, 0, cache.Indexers{})
	_, err = store.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		key, _ := cache.MetaNamespaceKeyFunc(o)
		queue.Add(key)
	}})
	if err != nil {
		panic(err)
	}
	go store.RunWithContext(ctx)
	for {
		key, _ := queue.Get()
		_, exists, err := store.GetIndexer().GetByKey(key)
		fmt.Println(key, exists, err)
		queue.Forget(key)
		queue.Done(key)
	}
}
EOF
  go build -o controller . && wc -c <controller
}

before=$(controller 'workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter' cache.NewSharedIndexInformer)
after=$(controller 'ratelimit.NewFusedQueue(ratelimit.NewDefault' informer.NewWithResync \
  github.com/informerbench/informerbench/impl/{informer,ratelimit})
awk -v before="$before" -v after="$after" -v with="$(go version | cut -d ' ' -f 3,4), client-go $client_go, $(date -u +%F)" 'BEGIN {
  printf "%.1f MB with client-go, %.1f MB with the library: %+.0f KB, %+.2f%% (%s)\n", before/1e6, after/1e6, (after-before)/1e3, 100*(after-before)/before, with }'
