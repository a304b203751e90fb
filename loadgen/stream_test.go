package loadgen

import (
	"io"
	"iter"

	"k8s.io/apimachinery/pkg/watch"
)

func readAll(s Stream) (events []Event, err error) {
	for {
		event, err := s.Next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

// everything yields the initial population as added events at time 0, then the
// load.
func everything(s *Spec) Stream {
	g, err := s.Generator()
	if err != nil {
		return &listThenWatch{err: err}
	}
	next, _ := iter.Pull2(g.Population())
	return &listThenWatch{generator: g, next: next}
}

type listThenWatch struct {
	generator *Generator
	next      func() (int, Object, bool)
	err       error
}

func (s *listThenWatch) Next() (Event, error) {
	if s.err != nil {
		return Event{}, s.err
	}
	if resource, object, ok := s.next(); ok {
		return Event{Type: watch.Added, Resource: resource, Object: object}, nil
	}
	return s.generator.Next()
}
