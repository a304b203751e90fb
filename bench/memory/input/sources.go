package input

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/record"
)

// Recording reads a list or a recording of the resources that are named, or of all.
// Of a recording it takes the most objects that there were at a time, in the last
// version of each.
func Recording(s *Set, t *trace.Trace) error {
	alive, most := map[*Kind]int{}, map[*Kind]int{}
	for {
		r, err := t.NextRecord()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if r.Type == watch.Bookmark {
			continue
		}
		o := object{gvk: r.Of, metaOnly: r.Kind == slimKind, resource: resourceName(r.GroupResource), namespace: r.Namespace, name: r.Name, json: r.Object}
		switch r.Type {
		case watch.Added:
			if err := s.add(o); err != nil {
				return err
			}
			k := s.byKind[o.gvk]
			alive[k]++
			most[k] = max(most[k], alive[k])
		case watch.Modified:
			s.change(o)
		case watch.Deleted:
			if k := s.byKind[o.gvk]; k != nil {
				alive[k]--
			}
		}
	}
	for k, n := range most { // Bytes keeps the mean size
		k.Bytes = k.Bytes / int64(k.Count) * int64(n)
		k.Count = n
	}
	if cut := t.Cut(); cut != nil {
		s.warn("%v: what comes before is used", cut)
	}
	return s.Finish()
}

// Workload takes the population of a spec.
func Workload(s *Set, spec *loadgen.Spec) error {
	g, err := spec.Generator()
	if err != nil {
		return err
	}
	for i, r := range g.Spec().Resources {
		n := 0
		for o := range g.First(i) {
			if n++; n > s.sample {
				break
			}
			b, err := json.Marshal(o)
			if err != nil {
				return err
			}
			gvk := o.GetObjectKind().GroupVersionKind()
			resource, _ := trace.ResourceOf(gvk)
			if err := s.add(object{gvk: gvk, resource: resource.Resource, namespace: o.GetNamespace(), name: o.GetName(), json: b}); err != nil {
				return err
			}
			if k := s.byKind[gvk]; n == s.sample || n == r.Count {
				k.Bytes += k.Bytes / int64(k.Count) * int64(r.Count-n)
				k.Count += r.Count - n
			}
		}
	}
	return s.Finish()
}

// pageSize is kubectl's.
const pageSize = 500

// Cluster lists resources page by page and keeps one page at a time.
func Cluster(ctx context.Context, s *Set, config *rest.Config, namespace string, resources []record.Resource, progress func(objects int)) error {
	for _, r := range resources {
		if err := clusterKind(ctx, s, config, namespace, r, progress); err != nil {
			return fmt.Errorf("list of %s: %w", r.GroupResource(), err)
		}
	}
	return s.Finish()
}

func clusterKind(ctx context.Context, s *Set, config *rest.Config, namespace string, r record.Resource, progress func(int)) error {
	gv := r.GroupVersion()
	c := rest.CopyConfig(config)
	c.GroupVersion, c.APIPath = &gv, "/apis"
	if gv.Group == "" {
		c.APIPath = "/api"
	}
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
	client, err := rest.RESTClientFor(c)
	if err != nil {
		return err
	}
	for next := ""; ; {
		request := client.Get().NamespaceIfScoped(namespace, r.Namespaced && namespace != "").Resource(r.Resource).Param("limit", strconv.Itoa(pageSize))
		if next != "" {
			request.Param("continue", next)
		}
		answer := request.Do(ctx)
		if err := answer.Error(); err != nil { // with what the server says
			return err
		}
		body, err := answer.Raw()
		if err != nil {
			return err
		}
		var page struct {
			Metadata metav1.ListMeta
			Items    []json.RawMessage
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			var meta metav1.PartialObjectMetadata
			if err := json.Unmarshal(item, &meta); err != nil {
				return err
			}
			o := object{gvk: gv.WithKind(r.Kind), resource: r.Resource, namespace: meta.Namespace, name: meta.Name, json: item}
			if err := s.add(o); err != nil {
				return err
			}
		}
		progress(s.Objects())
		if next = page.Metadata.Continue; next == "" {
			return nil
		}
	}
}

// slimKind is that of objects of which only the metadata is known.
const slimKind = "PartialObjectMetadata"

// resourceName is the plural without the group.
func resourceName(groupResource string) string {
	return schema.ParseGroupResource(groupResource).Resource
}
