package trace

import (
	"io"
	"time"
)

// A Merged is several recordings in one, by time. Those of equal times, and
// records without a time, keep the order of the recordings.
type Merged struct {
	traces []*Trace
	heads  []*Record // nil: to be read; of an ended trace: ended
	begin  time.Time
	at     time.Duration
}

var ended = &Record{}

// Merge returns the records of all traces in the order of their times. Each
// trace must be in order itself; where its clock goes back, so does the merged
// one's, which is then raised as a Trace's is. Audit logs are those of the API
// servers of one cluster: they are read as one, as the first of them.
func Merge(traces ...*Trace) *Merged {
	var log *auditSource
	for _, t := range traces {
		switch more, ok := t.source.(*auditSource); {
		case !ok || more.loaded:
		case log == nil:
			log = more
		default:
			log.join(more)
			t.err = io.EOF
		}
	}
	return &Merged{traces: traces, heads: make([]*Record, len(traces))}
}

// NextRecord returns the next record, io.EOF after the last of all, or the
// error that ends one of them; after it the others go on.
func (m *Merged) NextRecord() (Record, error) {
	if len(m.traces) == 1 && m.heads[0] != ended {
		record, err := m.traces[0].NextRecord()
		if err != nil {
			m.heads[0] = ended
		}
		return record, err
	}
	earliest := -1
	for i, t := range m.traces {
		if m.heads[i] == nil {
			record, err := t.NextRecord()
			switch {
			case err == io.EOF:
				m.heads[i] = ended
			case err != nil:
				m.heads[i] = ended
				return Record{}, err
			default:
				m.heads[i] = &record
			}
		}
		if m.heads[i] != ended && (earliest < 0 || m.heads[i].Time.Before(m.heads[earliest].Time)) {
			earliest = i
		}
	}
	if earliest < 0 {
		return Record{}, io.EOF
	}
	record := *m.heads[earliest]
	m.heads[earliest] = nil
	if !record.Time.IsZero() {
		if m.begin.IsZero() {
			m.begin = record.Time
		}
		m.at = max(m.at, record.Time.Sub(m.begin))
	}
	record.At = m.at
	return record, nil
}
