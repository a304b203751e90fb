package trace

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// jsonSource reads JSON documents: watch events, objects and lists.
type jsonSource struct {
	docs  *jsondoc.Reader
	first *jsondoc.Entry // read ahead
	skips skips
}

func (s *jsonSource) skipped() map[string]int { return s.skips }

func (s *jsonSource) next() (Record, error) {
	for {
		var entry jsondoc.Entry
		var err error
		if s.first != nil {
			entry, s.first = *s.first, nil
		} else if entry, err = s.docs.Next(); err != nil {
			return Record{}, err
		}
		switch {
		case entry.Wrapping:
			return Record{}, faultAt(entry, "%s", jsondoc.Neither)
		case isAudit(entry):
			return Record{}, faultAt(entry, "found an entry of an audit log among watch events, expected audit logs in files of their own")
		case entry.Event && watch.EventType(entry.Type) == watch.Error:
			// A watch that is done again after an error goes on in the recording.
			s.skips.add("errors of the API server: " + statusMessage(entry.Raw))
			continue
		}
		return eventRecord(entry)
	}
}

// skips counts what makes no event, by reason. Of errors, which may all differ,
// it tells the first ones.
type skips map[string]int

func (s *skips) add(reason string) {
	const most = 20
	switch {
	case *s == nil:
		*s = skips{}
	case (*s)[reason] == 0 && len(*s) >= most:
		reason = "for other reasons"
	}
	(*s)[reason]++
}

func faultAt(entry jsondoc.Entry, format string, args ...any) error {
	return &jsondoc.Error{Document: entry.Document, Line: entry.Line, Problem: fmt.Sprintf(format, args...)}
}

// eventRecord is the record of a watch event or of a bare object.
func eventRecord(entry jsondoc.Entry) (Record, error) {
	kind := watch.EventType(entry.Type)
	switch {
	case entry.Kind == "Status" && entry.APIVersion == "v1":
		return Record{}, faultAt(entry, "the API server ended the watch: %s", statusMessage(entry.Raw))
	case entry.Kind == "Table" && strings.HasPrefix(entry.APIVersion, "meta.k8s.io/"):
		return Record{}, faultAt(entry, "found a Table, which is made to be printed, expected objects as kubectl get -o json has them")
	case !entry.Event && strings.HasSuffix(entry.Kind, "List") && entry.Name == "":
		var list struct {
			Items *json.RawMessage `json:"items"`
		}
		if json.Unmarshal(entry.Raw, &list) == nil && list.Items == nil {
			return Record{}, faultAt(entry, "items: missing, expected the objects of the %s", entry.Kind)
		}
		return Record{}, faultAt(entry, "found a %s within a list, which isn't read, expected objects: each list as a document of its own", entry.Kind)
	case !entry.Event:
		kind = "" // says only that it exists
	case kind != watch.Added && kind != watch.Modified && kind != watch.Deleted && kind != watch.Bookmark:
		const expected = "expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR"
		if entry.Type == "" {
			return Record{}, faultAt(entry, "type: missing or no string, %s", expected)
		}
		return Record{}, faultAt(entry, "type: unknown value %q, %s", entry.Type, expected)
	}
	record := describe(entry)
	record.Recorded = kind
	if entry.Time != "" {
		ts, err := time.Parse(time.RFC3339Nano, entry.Time)
		if err != nil {
			return Record{}, faultAt(entry, "ts: found %q, expected a time such as 2006-01-02T15:04:05.999999999Z", entry.Time)
		}
		if record.Time, err = inRange(ts); err != nil {
			return Record{}, faultAt(entry, "ts: %v", err)
		}
	}
	return record, nil
}

// describe takes over what the object says of itself.
func describe(entry jsondoc.Entry) Record {
	return Record{
		Resource: entry.Resource, APIVersion: entry.APIVersion, Kind: entry.Kind, Namespace: entry.Namespace, Name: entry.Name, ResourceVersion: entry.Version,
		Object: entry.Raw, place: place{document: entry.Document, line: entry.Line},
	}
}

// inRange refuses times that nanoseconds since 1970 can't tell, among them the
// zero time, which stands for none.
func inRange(ts time.Time) (time.Time, error) {
	if year := ts.Year(); year < 1970 || year > 2200 {
		return time.Time{}, fmt.Errorf("found the year %d, expected 1970 to 2200", year)
	}
	return ts.UTC(), nil
}
