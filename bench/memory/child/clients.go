package child

import (
	"context"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// media are the encodings by name.
var media = map[string]string{
	"json":     "application/json",
	"protobuf": "application/vnd.kubernetes.protobuf",
	"cbor":     "application/cbor",
}

// config is how the server of a job is reached.
func (j Job) config() *rest.Config {
	if j.Encoding == "cbor" { // client-go reads them at the first request
		os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true")
		os.Setenv("KUBE_FEATURE_ClientsPreferCBOR", "true")
	}
	return &rest.Config{Host: j.Server, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1}
}

// A source lists and watches one kind, as a generated client, the dynamic or the
// metadata client does.
type source struct {
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	example  runtime.Object
	streamed bool
}

// IsWatchListSemanticsUnSupported tells the reflector whether to list by watching.
func (s source) IsWatchListSemanticsUnSupported() bool { return !s.streamed }

func (s source) listerWatcher() cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}, s)
}

// clients makes sources; those of one form share a connection, as in a controller.
type clients struct {
	job      Job
	typed    map[schema.GroupVersion]rest.Interface
	dynamic  dynamic.Interface
	metadata metadata.Interface
}

func newClients(j Job) (*clients, error) {
	c := &clients{job: j, typed: map[schema.GroupVersion]rest.Interface{}}
	config := j.config()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	if c.metadata, err = metadata.NewForConfigAndClient(config, client); err != nil {
		return nil, err
	}
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, client); err != nil {
		return nil, err
	}
	for _, k := range j.Kinds {
		gv := schema.GroupVersion{Group: k.Group, Version: k.Version}
		if c.typed[gv] != nil || !scheme.Scheme.Recognizes(gv.WithKind(k.Kind)) {
			continue
		}
		own := rest.CopyConfig(config)
		own.GroupVersion, own.APIPath = &gv, "/apis"
		if gv.Group == "" {
			own.APIPath = "/api"
		}
		own.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion()
		own.ContentType, own.AcceptContentTypes = media[j.Encoding], media[j.Encoding]
		if c.typed[gv], err = rest.RESTClientForConfigAndClient(own, client); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// source is the one of a kind in a namespace, or in all.
func (c *clients) source(k Kind, namespace string) (source, error) {
	gvk := schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
	gvr := gvk.GroupVersion().WithResource(k.Resource)
	s := source{streamed: c.job.List == "watchlist"}
	switch {
	case c.job.Form == Metadata:
		r := c.metadata.Resource(gvr).Namespace(namespace)
		s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) }
		s.watch = r.Watch
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(gvk)
		s.example = m
	case c.job.Form == Unstructured || !scheme.Scheme.Recognizes(gvk):
		r := c.dynamic.Resource(gvr).Namespace(namespace)
		s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) }
		s.watch = r.Watch
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		s.example = u
	default:
		client := c.typed[gvk.GroupVersion()]
		example, err := scheme.Scheme.New(gvk)
		if err != nil {
			return s, err
		}
		s.example = example
		s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := scheme.Scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
			if err != nil {
				return nil, err
			}
			return list, client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(k.Resource).
				VersionedParams(&o, scheme.ParameterCodec).Do(ctx).Into(list)
		}
		s.watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			return client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(k.Resource).
				VersionedParams(&o, scheme.ParameterCodec).Watch(ctx)
		}
	}
	return s, nil
}

// indexers makes the indices of a job.
func (j Job) indexers() (cache.Indexers, error) {
	all := cache.Indexers{}
	for _, index := range j.Indices {
		kind, name, _ := strings.Cut(index, ":")
		switch {
		case index == "namespace":
			all[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
		case kind == "label" && name != "":
			all[index] = func(object any) ([]string, error) {
				m, err := meta.Accessor(object)
				if err != nil {
					return nil, err
				}
				if v, ok := m.GetLabels()[name]; ok {
					return []string{v}, nil
				}
				return nil, nil
			}
		case index == "owner":
			all[index] = func(object any) ([]string, error) {
				m, err := meta.Accessor(object)
				if err != nil {
					return nil, err
				}
				var owners []string
				for _, o := range m.GetOwnerReferences() {
					owners = append(owners, string(o.UID))
				}
				return owners, nil
			}
		default:
			return nil, fmt.Errorf("--index: found %q, expected namespace, owner or label:KEY", index)
		}
	}
	return all, nil
}

// Check refuses a job whose words are not known.
func (j Job) Check() error {
	if _, err := j.indexers(); err != nil {
		return err
	}
	if media[j.Encoding] == "" {
		return fmt.Errorf("--encoding: found %q, expected json, protobuf or cbor", j.Encoding)
	}
	switch j.List {
	case "watchlist", "list", "pages":
	default:
		return fmt.Errorf("--list: found %q, expected watchlist, list or pages", j.List)
	}
	switch j.Form {
	case Typed, Unstructured, Metadata:
	default:
		return fmt.Errorf("--form: found %q, expected typed, unstructured or metadata", j.Form)
	}
	return nil
}
