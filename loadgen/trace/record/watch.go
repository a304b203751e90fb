package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// An event of a watch, its object as the server sent it.
type event struct {
	Type   watch.EventType `json:"type"`
	Object json.RawMessage `json:"object"`
}

// record lists and watches one resource until the context ends or an error
// that waiting does not mend.
func (r *Recorder) record(ctx context.Context, resource Resource) error {
	s := newState(r.options.Known[resource.GroupResource().String()])
	version := "" // list first
	backoff := func() wait.Backoff {
		return wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 8, Cap: 10 * time.Second}
	}
	pause := backoff()
	succeeded := time.Now() // when a list or a watch last did
	for {
		var err error
		before, begin := version, time.Now()
		if version == "" {
			version, err = r.list(ctx, resource, s)
		} else {
			version, err = r.watch(ctx, resource, s, version)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err == nil || version != before && version != "" {
			succeeded = time.Now()
		}
		if version != before || time.Since(begin) > time.Second {
			pause = backoff() // something happened: this is no watch that ends at once, again and again
		}
		switch {
		case err == nil && version != before:
			continue
		case errors.Is(err, errWrite):
			return err
		case isGone(err):
			version = ""
			r.count(func(c *Counts) { c.Relists++ })
			if before != "" {
				continue
			}
		}
		var status apierrors.APIStatus
		if errors.As(err, &status) && fatal(status.Status().Code) {
			return err
		}
		if silent := time.Since(succeeded); err != nil && silent > r.options.Patience {
			return fmt.Errorf("no list and no watch has succeeded for %s: %w", silent.Round(time.Second), err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause.Step()):
		}
	}
}

func (r *Recorder) count(change func(*Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.counts)
}

func isGone(err error) bool {
	return apierrors.IsGone(err) || apierrors.IsResourceExpired(err)
}

// errWrite marks errors of the recording itself.
var errWrite = errors.New("the recording can't be written")

// list brings the state up to the server's and returns its resource version.
// What differs from the state is recorded as events.
func (r *Recorder) list(ctx context.Context, resource Resource, s *state) (string, error) {
	seen := map[string]bool{}
	next := ""
	for {
		p, err := r.page(ctx, resource, next)
		if err != nil {
			return "", err
		}
		for _, item := range p.Items {
			object, err := describe(item)
			if err != nil {
				return "", err
			}
			seen[object.key()] = true
			if kind := s.compare(object); kind != "" {
				if err := r.listed(resource, s, kind, item); err != nil {
					return "", err
				}
				s.apply(kind, object)
			}
		}
		if next = p.Metadata.Continue; next == "" {
			for _, object := range s.others(seen) {
				if err := r.listed(resource, s, watch.Deleted, r.tombstone(resource, object)); err != nil {
					return "", err
				}
				s.apply(watch.Deleted, object)
			}
			s.complete = true
			return p.Metadata.ResourceVersion, nil
		}
	}
}

// listed records an event that a list showed.
func (r *Recorder) listed(resource Resource, s *state, kind watch.EventType, object []byte) error {
	return r.written(r.write(resource, kind, object, func(c *Counts) {
		c.Events++
		if s.complete || s.resumed {
			c.Inferred++
		} else {
			c.Existing++
		}
	}))
}

func (r *Recorder) written(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// watch records events until the watch ends, and returns the resource version
// to go on from.
func (r *Recorder) watch(ctx context.Context, resource Resource, s *state, version string) (string, error) {
	stream, err := r.open(ctx, resource, version)
	if err != nil {
		return version, err
	}
	defer stream.Close()
	for decoder := json.NewDecoder(stream); ; {
		var e event
		err := decoder.Decode(&e)
		if err != nil {
			if ctx.Err() == nil {
				r.count(func(c *Counts) { c.Reconnects++ })
			}
			if errors.Is(err, io.EOF) { // servers end watches after some minutes
				return version, nil
			}
			return version, fmt.Errorf("the watch from resource version %s on broke: %w", version, err)
		}
		if e.Type == watch.Error {
			return version, statusError(e.Object)
		}
		object, err := describe(e.Object)
		if err != nil {
			return version, err
		}
		err = r.write(resource, e.Type, e.Object, func(c *Counts) {
			if e.Type == watch.Bookmark {
				c.Bookmarks++
			} else {
				c.Events++
			}
		})
		if err != nil {
			return version, r.written(err)
		}
		s.apply(e.Type, object)
		version = object.Metadata.ResourceVersion
	}
}

func statusError(object []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(object, &status); err != nil {
		return fmt.Errorf("the watch ended with an error that is no Status: %w", err)
	}
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
	}
	return &apierrors.StatusError{ErrStatus: status}
}
