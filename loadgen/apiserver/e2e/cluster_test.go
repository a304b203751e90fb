package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// A cluster is a server's contents, and a client that changes them, past any proxy.
type cluster struct {
	kinds  []kind
	config *rest.Config
	http   *http.Client
	client dynamic.Interface
}

// newCluster fills a server.
func newCluster(t *testing.T, kubeconfig string, kinds []kind) *cluster {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	config.QPS = -1
	c := &cluster{kinds: kinds, config: config}
	c.http, err = rest.HTTPClientFor(config)
	require.NoError(t, err)
	t.Cleanup(c.http.CloseIdleConnections)
	c.client, err = dynamic.NewForConfigAndClient(config, c.http)
	require.NoError(t, err)

	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kind{}.namespace(i)}}
		require.NoError(t, c.create(t.Context(), schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, namespace))
	}
	for _, k := range kinds {
		require.NoError(t, inParallel(k.count, func(i int) error {
			return c.create(t.Context(), k.GroupVersionResource, k.make(i))
		}))
	}
	return c
}

// inParallel calls do with 0 to n-1 in sixteen goroutines.
func inParallel(n int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

func (c *cluster) create(ctx context.Context, resource schema.GroupVersionResource, object runtime.Object) error {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(kinds[0])
	_, err = c.client.Resource(resource).Namespace(u.GetNamespace()).Create(ctx, u, metav1.CreateOptions{})
	return err
}

// churn makes n changes, most of them to the last kind: a fifth are deletes, a
// fifth creates. After each round of them it calls the function given.
func (c *cluster) churn(ctx context.Context, random *rand.Rand, n int, every func()) error {
	const round = 250
	for done := 0; done < n; done += round {
		seeds := make([]uint64, round)
		for i := range seeds {
			seeds[i] = random.Uint64()
		}
		if err := inParallel(round, func(i int) error {
			return c.change(ctx, rand.New(rand.NewPCG(seeds[i], 0)))
		}); err != nil {
			return err
		}
		every()
	}
	return nil
}

// change makes one change.
func (c *cluster) change(ctx context.Context, random *rand.Rand) error {
	k := c.kinds[len(c.kinds)-1]
	if random.IntN(2) == 0 {
		k = c.kinds[random.IntN(len(c.kinds))]
	}
	i := random.IntN(k.count)
	client := c.client.Resource(k.GroupVersionResource).Namespace(k.namespace(i))
	var err error
	switch random.IntN(5) {
	case 0:
		now := int64(0)
		err = client.Delete(ctx, k.name(i), metav1.DeleteOptions{GracePeriodSeconds: &now})
	case 1:
		err = c.create(ctx, k.GroupVersionResource, k.make(i))
	default:
		err = c.patch(ctx, k, i)
	}
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil // what another change did before
	}
	return err
}

// patch gives the i-th object of a kind a new version.
func (c *cluster) patch(ctx context.Context, k kind, i int) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"changed":%q}}}`, time.Now().Format(time.RFC3339Nano))
	_, err := c.client.Resource(k.GroupVersionResource).Namespace(k.namespace(i)).
		Patch(ctx, k.name(i), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// touch changes one object of each kind.
func (c *cluster) touch(ctx context.Context) error {
	for _, k := range c.kinds {
		for i := range k.count {
			err := c.patch(ctx, k, i)
			if err == nil {
				break
			}
			if !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// restClient returns a client for one kind's group and version.
func restClient(config *rest.Config, client *http.Client, k kind) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	version := k.GroupVersion()
	config.GroupVersion = &version
	config.APIPath = "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return rest.RESTClientForConfigAndClient(config, client)
}

// list returns what the server holds of a kind, by key.
func (c *cluster) list(ctx context.Context, k kind) (map[string]runtime.Object, error) {
	client, err := restClient(c.config, c.http, k)
	if err != nil {
		return nil, err
	}
	list := k.list()
	if err := client.Get().Resource(k.Resource).Param("labelSelector", ours).Do(ctx).Into(list); err != nil {
		return nil, err
	}
	objects := map[string]runtime.Object{}
	return objects, meta.EachListItem(list, func(object runtime.Object) error {
		key, err := cache.MetaNamespaceKeyFunc(object)
		objects[key] = object
		return err
	})
}
