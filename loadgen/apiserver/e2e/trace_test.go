package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informerbench/informerbench/loadgen/apiserver"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/record"
)

// TestRecording records through the same trouble as the informers', as a user who
// may list and watch and nothing else. Read again, the recording ends in what the
// server held at the end.
func TestRecording(t *testing.T) {
	server := serve(t, "--watch-cache-sizes="+uncached+"#0")
	proxy, err := apiserver.NewProxy(server.Address())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	var recorded []kind // those that a recorder of two resources sees
	for _, k := range kinds() {
		if k.Resource == "pods" || k.GroupResource().String() == uncached {
			recorded = append(recorded, k)
		}
	}
	cluster := newCluster(t, server.Kubeconfig(), recorded)
	random := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("seed %d", *seed)

	allowWatching(t, connectTo(t, server.Kubeconfig()), "recorders", recorded...)
	kubeconfig, err := server.KubeconfigFor("recorder", "recorders")
	require.NoError(t, err)
	config, err := clientcmd.BuildConfigFromFlags("https://"+proxy.Address(), kubeconfig)
	require.NoError(t, err)
	resources, err := record.Resolve(config, "pods", uncached)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "recording")
	writer, err := trace.Create(path)
	require.NoError(t, err)
	follower := &follower{Writer: writer, versions: map[string]map[string]string{}}
	recorder, err := record.New(config, follower, record.Options{Resources: resources, Patience: patience})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- recorder.Run(ctx) }()

	follower.catchUp(t, cluster, "the first list")
	require.NoError(t, cluster.churn(ctx, random, 1000, func() { proxy.Cut() }))
	follower.catchUp(t, cluster, "churn and cut connections")
	proxy.Refuse()
	require.NoError(t, cluster.churn(ctx, random, 500, func() {}))
	_, err = server.Compact()
	require.NoError(t, err)
	require.NoError(t, server.Restart(ctx))
	require.NoError(t, proxy.Accept())
	follower.catchUp(t, cluster, "an outage, a compaction and a restart")
	counts := recorder.Counts()
	t.Logf("%+v", counts)
	require.Positive(t, counts.Reconnects)
	require.Positive(t, counts.Relists)
	require.Positive(t, counts.Inferred)

	stop()
	require.NoError(t, <-ended)
	require.NoError(t, writer.Close())
	for _, k := range recorded {
		fresh, err := cluster.list(t.Context(), k)
		require.NoError(t, err)
		replayed := replay(t, path, k)
		require.Len(t, replayed, len(fresh), k.Resource)
		for key, object := range fresh {
			require.Equal(t, untyped(object), untyped(replayed[key]), key)
		}
	}
}

// replay returns what a cache holds that saw a recording's events of one kind.
func replay(t *testing.T, path string, k kind) map[string]runtime.Object {
	t.Helper()
	stream, err := trace.OpenPart(path, trace.Part{Resources: []string{k.GroupResource().String()}})
	require.NoError(t, err)
	defer func() { require.NoError(t, stream.Close()) }()
	objects := map[string]runtime.Object{}
	for {
		event, err := stream.Next()
		if errors.Is(err, io.EOF) {
			require.NoError(t, stream.Cut())
			return objects
		}
		require.NoError(t, err)
		key := cache.MetaObjectToName(event.Object).String()
		switch {
		case event.Type == watch.Bookmark || !isOurs(key, k):
		case event.Type == watch.Deleted:
			delete(objects, key)
		default:
			objects[key] = event.Object
		}
	}
}

// isOurs tells what the tests made from what the server keeps for itself.
func isOurs(key string, k kind) bool {
	return k.global || strings.HasPrefix(key, strings.TrimRight(k.namespace(0), "0"))
}

// A follower passes records on and remembers the last versions.
type follower struct {
	trace.Writer

	mu       sync.Mutex
	versions map[string]map[string]string // by plural and key
}

func (f *follower) Write(r trace.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(r.Object, &object); err != nil {
		return err
	}
	plural, _, _ := strings.Cut(r.Resource, ".")
	if f.versions[plural] == nil {
		f.versions[plural] = map[string]string{}
	}
	key := cache.MetaObjectToName(&object).String()
	switch r.Recorded {
	case watch.Bookmark:
	case watch.Deleted:
		delete(f.versions[plural], key)
	default:
		f.versions[plural][key] = object.ResourceVersion
	}
	return f.Writer.Write(r)
}

// catchUp waits until what was recorded agrees with a fresh list.
func (f *follower) catchUp(t *testing.T, c *cluster, after string) {
	t.Helper()
	var behind string
	err := poll(t, func(ctx context.Context) (bool, error) {
		for _, k := range c.kinds {
			fresh, err := c.list(ctx, k)
			if err != nil {
				return false, err
			}
			expected := map[string]string{}
			for key, object := range fresh {
				expected[key] = version(object)
			}
			f.mu.Lock()
			got := maps.Clone(f.versions[k.Resource])
			f.mu.Unlock()
			maps.DeleteFunc(got, func(key, _ string) bool { return !isOurs(key, k) })
			if behind = difference(expected, got); behind != "" {
				return false, nil
			}
		}
		return true, nil
	})
	require.NoError(t, err, "after %s: %s", after, behind)
}
