package loadgen

import "io"

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

// A replay is a stream of given events.
type replay struct{ events []Event }

func (r *replay) Next() (Event, error) {
	if len(r.events) == 0 {
		return Event{}, io.EOF
	}
	event := r.events[0]
	r.events = r.events[1:]
	return event, nil
}
