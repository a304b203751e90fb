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
