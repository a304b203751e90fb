package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/loadgen/apiserver"
)

// TestInformers runs every informer against one server through a proxy. After each
// kind of trouble its store and its handler agree with a fresh list, and at the end
// nothing is left running.
func TestInformers(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		t.Run(fmt.Sprintf("watch-list=%t", watchList), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			t.Run("trouble", func(t *testing.T) { // its cleanups come before the check for leaks
				featuretesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
				testInformers(t, watchList)
			})
		})
	}
}

func testInformers(t *testing.T, watchList bool) {
	server := serve(t, "--watch-cache-sizes="+uncached+"#0")
	proxy, err := apiserver.NewProxy(server.Address())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	began := time.Now()
	cluster := newCluster(t, server.Kubeconfig(), kinds())
	t.Logf("seed %d; populated in %.1f s", *seed, time.Since(began).Seconds())
	random := rand.New(rand.NewPCG(*seed, 0))

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	var connections []*connection
	var all []*watcher
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		for _, v := range impl.Informers() {
			c := connect(t, cluster.config, proxy.Address(), contentType)
			connections = append(connections, c)
			for _, k := range cluster.kinds {
				w := newWatcher(t, v, c, k)
				all = append(all, w)
				running.Go(func() { w.informer.RunWithContext(ctx) })
			}
		}
	}
	for _, w := range all {
		require.True(t, cache.WaitForCacheSync(ctx.Done(), w.informer.HasSynced), w.name)
	}
	settle(t, cluster, all, "the first list")
	for _, w := range all {
		require.Equal(t, watchList, w.watchLists.Load() > 0, "%s: watch-lists", w.name)
		require.Equal(t, watchList, w.lists.Load() == 0, "%s: no lists", w.name)
	}
	for _, c := range connections {
		require.Equal(t, []string{c.config.ContentType}, c.contentTypes(), "answers")
	}

	cuts := 0
	require.NoError(t, cluster.churn(ctx, random, 2000, func() { cuts += proxy.Cut() }))
	settle(t, cluster, all, "churn and cut connections")
	require.GreaterOrEqual(t, cuts, len(connections), "connections that were cut")

	// Of the history that is missed here, the compaction takes away what etcd has,
	// the restart what the watch caches have.
	stream(t, cluster, all)
	proxy.Refuse()
	require.NoError(t, cluster.churn(ctx, random, 500, func() {}))
	_, err = server.Compact()
	require.NoError(t, err)
	require.NoError(t, server.Restart(ctx))
	require.NoError(t, proxy.Accept())
	settle(t, cluster, all, "an outage, a compaction and a restart")
	for _, w := range all {
		require.Positive(t, w.expired.Load(), "%s: answers of 410", w.name)
	}

	require.NoError(t, cluster.churn(ctx, random, 500, func() {}))
	settle(t, cluster, all, "churn after that")
}

// settle waits until every watcher agrees with a fresh list, then compares all
// fields.
func settle(t *testing.T, c *cluster, all []*watcher, after string) {
	t.Helper()
	began := time.Now()
	var behind string
	fresh := map[string]map[string]runtime.Object{}
	err := poll(t, func(ctx context.Context) (bool, error) {
		for _, w := range all {
			objects, ok := fresh[w.kind.Resource]
			if !ok {
				var err error
				if objects, err = c.list(ctx, w.kind); err != nil {
					return false, err
				}
				fresh[w.kind.Resource] = objects // nothing changes meanwhile
			}
			if behind = w.behind(objects); behind != "" {
				return false, nil
			}
		}
		return true, nil
	})
	require.NoError(t, err, "after %s: %s", after, behind)
	for _, w := range all {
		w.equal(t, fresh[w.kind.Resource])
	}
	t.Logf("agreed %.1f s after %s", time.Since(began).Seconds(), after)
}

// stream changes one object of each kind until every watch has sent something. The
// reflector lists again after a watch that ends in its first second without that,
// and would never ask for what has expired.
func stream(t *testing.T, c *cluster, all []*watcher) {
	t.Helper()
	err := poll(t, func(ctx context.Context) (bool, error) {
		for _, w := range all {
			if !w.streaming.Load() {
				return false, c.touch(ctx)
			}
		}
		return true, nil
	})
	require.NoError(t, err, "not every watch sends events")
}
