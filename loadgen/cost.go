package loadgen

import (
	"errors"
	"io"
	"time"
)

// Cost measures what an event of the stream costs to make: it reads at most so
// many events, throws them away, and returns the mean time of one, and how many
// there were. A run compares it with what it measures: the generator must not
// be the bottleneck.
func Cost(s Stream, atMost int) (perEvent time.Duration, events int, err error) {
	begin := time.Now()
	for events < atMost {
		if _, err := s.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, events, err
		}
		events++
	}
	if events == 0 {
		return 0, 0, nil
	}
	return time.Since(begin) / time.Duration(events), events, nil
}
