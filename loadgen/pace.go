package loadgen

import "time"

// A Rate is a constant number of events a second; zero and below mean as fast
// as possible.
type Rate float64

// Due returns when event n (counted from 0) is to happen.
func (r Rate) Due(n int) time.Duration {
	if r <= 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(r) * float64(time.Second))
}

// Wait returns how long to wait before event n when elapsed has passed since
// the begin: 0 when it is due or late. It looks at the schedule only, never at
// when the previous event was done, so a slow consumer gets a backlog and not
// a slower load.
func (r Rate) Wait(elapsed time.Duration, n int) time.Duration {
	return max(0, r.Due(n)-elapsed)
}
