package loadgen

// A Trace is a recorded Stream. It reads as it goes and holds one object at a
// time. It must be closed.
type Trace struct{}

// TraceStats counts what a Trace has read so far.
type TraceStats struct {
	Added, Modified, Deleted int // as delivered
	Bookmarks                int
	ImpliedAdds              int            // MODIFIED of an unknown object, delivered as ADDED
	RepeatedAdds             int            // ADDED of a known object, delivered as MODIFIED
	UnknownDeletes           int            // DELETED of an unknown object, delivered all the same
	Backwards                int            // timestamps before their predecessor, raised to it
	Timed                    bool           // events carry times
	Kinds                    map[string]int // events by kind, "Lease.coordination.k8s.io"
}

// OpenTrace opens a recording.
func OpenTrace(path string) (*Trace, error) { return nil, nil }

// Sample opens the embedded recording.
func Sample() (*Trace, error) { return nil, nil }

// Next implements Stream.
func (t *Trace) Next() (Event, error) { return Event{}, nil }

// Stats returns the counts up to the last event returned.
func (t *Trace) Stats() TraceStats { return TraceStats{} }

// Close closes the file.
func (t *Trace) Close() error { return nil }
