package feed

import (
	"cmp"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"github.com/informerbench/informerbench/bench/memory/fields"
)

// Options change what is served.
type Options struct {
	Remove []fields.Path // parts that the server does not send
	Paged  bool          // limits are kept, as by a server without a cache
	Cache  *Cache        // of templates, to share with other servers; nil for none
}

// A Server serves kinds over HTTP/2 and TLS until it is closed.
type Server struct {
	*httptest.Server
	kinds   map[string]*kind // by "/apis/apps/v1 deployments"
	options Options

	mu      sync.Mutex
	changed *sync.Cond
	orders  []order
	version int64 // resource version of what is listed now
	err     error // the first that a request ended with
}

// An order is what watches are told to do.
type order struct {
	changes int // of a kind's objects, in thousandths of them; 0 to end with 410
	version int64
}

type kind struct {
	*prepared
	count int // objects to serve
}

// New starts a server.
func New(kinds []Kind, options Options) (*Server, error) {
	s := &Server{kinds: map[string]*kind{}, options: options, version: firstVersion}
	s.changed = sync.NewCond(&s.mu)
	for _, k := range kinds {
		made, err := options.prepare(k)
		if err != nil {
			return nil, err
		}
		prefix := "/apis/" + k.GroupVersion().String()
		if k.Group == "" {
			prefix = "/api/" + k.Version
		}
		s.kinds[prefix+" "+k.Resource] = &kind{made, k.Count}
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that are gone
	s.StartTLS()
	return s, nil
}

// Err is the first fault of a request, nil if there was none.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Server) order(o order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += 1_000_000
	o.version = s.version
	s.orders = append(s.orders, o)
	s.changed.Broadcast()
}

// serve answers a request as an API server does.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/churn":
		thousandths, _ := strconv.Atoi(r.URL.Query().Get("thousandths"))
		s.order(order{changes: thousandths})
		return
	case "/expire":
		s.order(order{})
		return
	}
	k, namespace := s.find(r.URL.Path)
	if k == nil {
		http.NotFound(w, r)
		return
	}
	e := accepted(r.Header.Get("Accept"))
	if e.media == mediaProtobuf && !k.typed() && !e.metaOnly {
		e.media = mediaJSON
	}
	list, err := k.templates(e)
	if err == nil {
		c := call{server: s, kind: k, encoding: e, list: list, namespace: namespace}
		if watches, _ := strconv.ParseBool(r.URL.Query().Get("watch")); watches {
			err = c.watch(w, r)
		} else {
			err = c.listAll(w, r)
		}
	} else {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
	if err != nil && r.Context().Err() == nil {
		s.mu.Lock()
		s.err = cmp.Or(s.err, err)
		s.mu.Unlock()
	}
}

// find reads a path of the API.
func (s *Server) find(path string) (k *kind, namespace string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	resource := parts[len(parts)-1]
	if n := len(parts); n > 3 && parts[n-3] == "namespaces" {
		namespace = parts[n-2]
		parts = parts[:n-2]
	}
	return s.kinds["/"+strings.Join(parts[:len(parts)-1], "/")+" "+resource], namespace
}
