package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func newClient(config *rest.Config, gv schema.GroupVersion) (rest.Interface, error) {
	c := rest.CopyConfig(config)
	c.GroupVersion = &gv
	c.APIPath = "/apis"
	if gv.Group == "" {
		c.APIPath = "/api"
	}
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
	c.QPS, c.Burst = -1, 0 // a handful of requests
	c.Timeout = 0          // watches go on
	c.UserAgent = cmp.Or(c.UserAgent, "benchrun-trace-record")
	return rest.RESTClientFor(c)
}

const (
	slimObjects = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	slimLists   = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	pageSize    = 500
)

func (r *Recorder) request(resource Resource) *rest.Request {
	return r.clients[resource.GroupVersion()].Get().
		NamespaceIfScoped(r.options.Namespace, resource.Namespaced && r.options.Namespace != "").
		Resource(resource.Resource)
}

// A page of a list, its objects as the server sent them.
type page struct {
	Metadata metav1.ListMeta   `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

// page reads one page of a list.
func (r *Recorder) page(ctx context.Context, resource Resource, next string) (page, error) {
	request := r.request(resource).Param("limit", strconv.Itoa(pageSize))
	if next != "" {
		request.Param("continue", next)
	}
	if r.options.Slim {
		request.SetHeader("Accept", slimLists)
	}
	var p page
	body, err := request.DoRaw(ctx)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return p, err
	}
	for i, item := range p.Items {
		p.Items[i] = r.named(resource, item)
	}
	return p, nil
}

// named adds kind and version to an object of a list, which leaves them to the
// list.
func (r *Recorder) named(resource Resource, item []byte) []byte {
	kind, version := resource.Kind, resource.GroupVersion().String()
	if r.options.Slim {
		kind, version = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	var has struct{ Kind, APIVersion string }
	rest, ok := bytes.CutPrefix(item, []byte("{"))
	if !ok || json.Unmarshal(item, &has) == nil && has.Kind != "" {
		return item
	}
	begin := `{"kind":` + strconv.Quote(kind) + `,"apiVersion":` + strconv.Quote(version)
	if len(bytes.TrimSpace(rest)) > 1 {
		begin += ","
	}
	return append([]byte(begin), rest...)
}

// open opens a watch from a resource version on.
func (r *Recorder) open(ctx context.Context, resource Resource, version string) (io.ReadCloser, error) {
	request := r.request(resource).
		Param("watch", "true").Param("allowWatchBookmarks", "true").
		Param("resourceVersion", version).Param("timeoutSeconds", "600") // so that a dead connection ends
	if r.options.Slim {
		request.SetHeader("Accept", slimObjects)
	}
	return request.Stream(ctx)
}

// fatal reports whether trying again can't help: the request is not allowed,
// or the server does not know the resource.
func fatal(code int32) bool {
	return code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusNotFound || code == http.StatusMethodNotAllowed || code == http.StatusNotAcceptable
}
