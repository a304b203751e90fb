package trace

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace/internal/block"
	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// codes are the types of recorded events by their number in the compact format.
var codes = []watch.EventType{"", watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}

// compactSource reads the compact format.
type compactSource struct {
	blocks   *block.Reader
	describe *jsondoc.Reader
}

func (s *compactSource) skipped() map[string]int { return nil }

func (s *compactSource) next() (Record, error) {
	row, err := s.blocks.Next()
	if err != nil {
		return Record{}, err
	}
	part := fmt.Sprintf("block %d", s.blocks.Block())
	if int(row.Type) >= len(codes) {
		return Record{}, &partError{part, fmt.Sprintf("found the event type %d, expected 0 to %d", row.Type, len(codes)-1)}
	}
	entry, err := s.describe.Describe(row.Object)
	if err != nil {
		var at *jsondoc.Error
		if errors.As(err, &at) {
			err = &partError{part, at.Problem}
		}
		return Record{}, err
	}
	record := describe(entry)
	record.Recorded, record.Resource, record.place = codes[row.Type], row.Resource, place{part: part}
	if row.Time != block.None {
		if record.Time, err = inRange(time.Unix(0, row.Time)); err != nil {
			return Record{}, &partError{part, err.Error()}
		}
	}
	return record, nil
}
