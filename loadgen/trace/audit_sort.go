package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
)

// An auditSorter puts the entries of audit logs in the order of time. What does
// not fit into memory waits in temporary files, each in order.
type auditSorter struct {
	entries []auditEvent
	bytes   int
	files   []*os.File

	runs []auditRun // each in order
	seen map[auditIdentity]struct{}
	last auditEvent
}

// spillBytes is how much is sorted at a time, as estimated.
var spillBytes = 64 << 20

// A sorted entry may be one that came before.
type sortedEvent struct {
	auditEvent
	again bool
}

func (s *auditSorter) add(e auditEvent) error {
	s.entries = append(s.entries, e)
	s.bytes += 500 + len(e.RequestURI) + len(e.Response)
	if s.bytes < spillBytes {
		return nil
	}
	return s.spill()
}

func (s *auditSorter) spill() error {
	f, err := os.CreateTemp("", "benchrun-audit-*.jsonl")
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	s.order()
	w := bufio.NewWriter(f)
	encoder := json.NewEncoder(w)
	for i := range s.entries {
		if err := encoder.Encode(&s.entries[i]); err != nil {
			return err
		}
	}
	clear(s.entries)
	s.entries, s.bytes = s.entries[:0], 0
	return w.Flush()
}

func (s *auditSorter) order() {
	slices.SortStableFunc(s.entries, func(x, y auditEvent) int { return x.earlier(&y) })
}

// sort ends the adding.
func (s *auditSorter) sort() error {
	for _, f := range s.files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		s.runs = append(s.runs, auditRun{decoder: json.NewDecoder(bufio.NewReader(f))})
	}
	s.order()
	s.runs = append(s.runs, auditRun{entries: s.entries})
	for i := range s.runs {
		if err := s.runs[i].advance(); err != nil {
			return err
		}
	}
	return nil
}

// next returns the earliest entry that is left.
func (s *auditSorter) next() (sortedEvent, error) {
	earliest := -1
	for i, run := range s.runs {
		if !run.ended && (earliest < 0 || run.head.earlier(&s.runs[earliest].head) < 0) {
			earliest = i
		}
	}
	if earliest < 0 {
		return sortedEvent{}, io.EOF
	}
	e := s.runs[earliest].head
	if err := s.runs[earliest].advance(); err != nil {
		return sortedEvent{}, err
	}
	if s.seen == nil || !e.Time.Equal(s.last.Time) {
		s.seen = map[auditIdentity]struct{}{}
	}
	s.last = e
	_, again := s.seen[e.identity()]
	s.seen[e.identity()] = struct{}{}
	return sortedEvent{e, again && e.ID != ""}, nil
}

func (s *auditSorter) close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close(), os.Remove(f.Name()))
	}
	s.files = nil
	return errors.Join(errs...)
}

// An auditRun is entries in order, in memory or in a file.
type auditRun struct {
	entries []auditEvent
	decoder *json.Decoder
	head    auditEvent
	ended   bool
}

func (r *auditRun) advance() error {
	r.head = auditEvent{}
	if r.decoder != nil {
		err := r.decoder.Decode(&r.head)
		if err == io.EOF {
			r.ended = true
			return nil
		}
		return err
	}
	if len(r.entries) == 0 {
		r.ended = true
		return nil
	}
	r.head, r.entries = r.entries[0], r.entries[1:]
	return nil
}
