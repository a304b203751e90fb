package tune

import (
	"fmt"
	"math"
	"sync"
	"testing"
)

// truths are the long-run 99th percentiles of waits by system and settings, which
// the seeds of the measurement share.
var truths sync.Map

// truth is the 99th percentile of the wait that the system has in the long run.
// One run of 400,000 arrivals scatters by 14% where a limit is near, so there are
// as many as tell it to 2% (standard error), or 40; fewer if they tell clearly on
// which side of a bound it is, unless that is 0. The tests' short form is content
// with 12, which tell to 4% even near a limit, where predictions may be off by 25%;
// and looks at a bound with shorter runs, as most settings of a grid are far from it.
func (s system) truth(t *testing.T, bound float64) float64 {
	key := fmt.Sprintf("%s/%d/%v/%d/%v", s.name, s.workers, s.qps, s.tokens, bound)
	once, _ := truths.LoadOrStore(key, sync.OnceValues(func() (mean, off float64) {
		least, most, arrivals := 4, uint64(40), 4e5
		switch short := *known == 1 && *judged == 1; {
		case short && bound > 0:
			most, arrivals = 48, 1e5
		case short:
			least, most = 3, 12
		}
		var found []float64
		for n := range most {
			found = append(found, percentile(s.run(10_001+n, max(arrivals/s.rate, s.cycles(60))).wait, 0.99))
			if len(found) < least {
				continue
			}
			var deviation float64
			mean, deviation = moments(found)
			off = deviation / math.Sqrt(float64(len(found)))
			if off <= max(0.02*mean, 0.01*s.mean) || bound > 0 && math.Abs(mean-bound) > 4*off {
				break
			}
		}
		return mean, off
	}))
	mean, off := once.(func() (float64, float64))()
	if bound == 0 && off > max(0.03*mean, 0.01*s.mean) {
		t.Logf("%s: true p99 %.4g ± %.2g", key, mean, off)
	}
	return mean
}

// cycles is how long n bursts and pauses take on average, in seconds; 0 if there are none.
func (s system) cycles(n float64) float64 {
	if s.burst == nil {
		return 0
	}
	mean := s.burst(nil)
	return n * (mean[0] + mean[1])
}
