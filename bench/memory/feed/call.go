package feed

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A call is one request.
type call struct {
	server    *Server
	kind      *kind
	encoding  encoding
	list      []template
	namespace string
}

// each yields the numbers of the call's objects from one on.
func (c call) each(from int, yield func(number int, t *template) bool) {
	for i := from; i < c.kind.count; i++ {
		t := &c.list[i%len(c.list)]
		if c.namespace != "" && t.namespace != c.namespace {
			continue
		}
		if !yield(i, t) {
			return
		}
	}
}

// page is where a list of so many objects ends, 0 for all, and their bytes.
func (c call) page(from, limit int) (end, size int) {
	n, end := 0, c.kind.count
	c.each(from, func(number int, t *template) bool {
		if limit > 0 && n == limit {
			end = number
			return false
		}
		n++
		size += len(t.bytes)
		return true
	})
	return end, size
}

// compressedFrom is the size from which on a real server compresses a list.
const compressedFrom = 128 << 10

func (c call) listAll(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	from, _ := strconv.Atoi(query.Get("continue"))
	if !c.server.options.Paged {
		limit = 0
	}
	c.server.mu.Lock()
	version := c.server.version
	c.server.mu.Unlock()
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatInt(version, 10)}
	end, size := c.page(from, limit)
	if end < c.kind.count {
		meta.Continue = strconv.Itoa(end)
	}
	within := func(yield func(int, *template)) {
		c.each(from, func(number int, t *template) bool {
			if number < end {
				yield(number, t)
			}
			return number < end
		})
	}
	head, err := c.kind.listHead(c.encoding, meta, func(yield func(int)) {
		within(func(_ int, t *template) { yield(len(t.bytes)) })
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", c.encoding.media)
	var out io.Writer = w
	if size >= compressedFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a level that there is
		defer z.Close()
		out = z
	}
	b := bufio.NewWriterSize(out, 64<<10)
	defer b.Flush()
	_, err = b.Write(head)
	var scratch []byte
	written := 0
	within(func(number int, t *template) {
		if err != nil {
			return
		}
		scratch = append(scratch[:0], itemHead(c.encoding, len(t.bytes), written)...)
		written++
		scratch = t.write(scratch, number, version-int64(c.kind.count)+int64(number))
		_, err = b.Write(scratch)
	})
	if err == nil {
		_, err = b.WriteString(listEnd(c.encoding))
	}
	return err
}

func (c call) watch(w http.ResponseWriter, r *http.Request) error {
	media := c.encoding.media + ";stream=watch"
	if c.encoding.media == mediaCBOR {
		media = mediaCBOR + "-seq"
	}
	w.Header().Set("Content-Type", media)
	b := bufio.NewWriterSize(w, 16<<10)
	send := func() error {
		err := b.Flush()
		w.(http.Flusher).Flush()
		return err
	}
	s := c.server
	s.mu.Lock()
	at, version := len(s.orders), s.version
	s.mu.Unlock()
	if initial, _ := strconv.ParseBool(r.URL.Query().Get("sendInitialEvents")); initial {
		if err := c.events(b, send, "ADDED", c.kind.count, version-int64(c.kind.count)); err != nil {
			return err
		}
		o := tree{"kind": c.kind.Kind.Kind, "apiVersion": c.kind.GroupVersion().String(), "metadata": tree{
			"resourceVersion": strconv.FormatInt(version, 10),
			"annotations":     tree{metav1.InitialEventsAnnotationKey: "true"},
		}}
		if err := c.special(b, "BOOKMARK", o); err != nil {
			return err
		}
	}
	if err := send(); err != nil {
		return err
	}
	ended := r.Context().Done()
	go func() { <-ended; s.mu.Lock(); defer s.mu.Unlock(); s.changed.Broadcast() }()
	for {
		s.mu.Lock()
		for at == len(s.orders) && r.Context().Err() == nil {
			s.changed.Wait()
		}
		if r.Context().Err() != nil {
			s.mu.Unlock()
			return nil
		}
		order := s.orders[at]
		at++
		s.mu.Unlock()
		if order.changes == 0 {
			err := c.special(b, "ERROR", tree{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": int64(http.StatusGone), "message": "too old resource version"})
			if err == nil {
				err = send()
			}
			return err
		}
		if err := c.events(b, send, "MODIFIED", c.kind.count*order.changes/1000, order.version); err != nil {
			return err
		}
		if err := send(); err != nil {
			return err
		}
	}
}

// initialEvent is what an API server takes for one in protobuf, beside sending it, and half
// of what it takes for others: kube-apiserver v1.37 used 53 µs of CPU time in all for a
// ConfigMap of 5.7 kB, 82 for a Deployment of 4.8 and 84 for a Job of 4.5, and in JSON 97,
// 144 and 218. A server that takes none lets clients fall behind, and ends lists of many
// small objects before those of few large ones: peaks are others then.
const initialEvent = 60 * time.Microsecond

// busy takes a processor for as long, which is too short to sleep.
func (e encoding) busy() {
	cost := initialEvent
	if e.media != mediaProtobuf {
		cost *= 2
	}
	for began := time.Now(); time.Since(began) < cost; {
	}
}

// events sends an event for each of the first n objects, over and over where
// there are fewer.
func (c call) events(w io.Writer, send func() error, event string, n int, version int64) (err error) {
	var scratch []byte
	initial := event == "ADDED"
	for sent := 0; sent < n && err == nil; {
		before := sent
		c.each(0, func(number int, t *template) bool {
			scratch = t.write(scratch[:0], number, version+int64(sent))
			sent++
			err = c.kind.frame(w, c.encoding, event, scratch)
			if initial && err == nil {
				c.encoding.busy()
				err = send()
			}
			return err == nil && sent < n
		})
		if sent == before || initial {
			break
		}
	}
	return err
}

func (c call) special(w io.Writer, event string, o tree) error {
	b, err := c.kind.other(o, c.encoding, event == "ERROR")
	if err != nil {
		return err
	}
	if event == "BOOKMARK" && c.encoding.metaOnly && c.encoding.media == mediaJSON {
		b = []byte(strings.Replace(string(b), `"kind":"`+c.kind.Kind.Kind+`"`, `"kind":"PartialObjectMetadata"`, 1))
	}
	return c.kind.frame(w, c.encoding, event, b)
}
