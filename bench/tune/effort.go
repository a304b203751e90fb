package tune

import (
	"math"
	"time"

	"github.com/informerbench/informerbench/loadgen/sim"
)

// effort is how much is simulated for one prediction.
type effort struct {
	replicas int
	events   int     // arrivals in each ...
	patience float64 // ... and up to so many times as many, the nearer the load is to what there is
	sure     float64 // relative standard error that the 99th percentile of the wait is to have; 0: any
}

// farthest is how much time is simulated at most, however little comes.
const farthest = 5000 * time.Hour

var (
	rough  = effort{4, 12_000, 1, 0}
	surer  = effort{8, 24_000, 3, 0}
	fine   = effort{8, 40_000, 5, 0}
	finest = effort{8, 40_000, 5, 0.05} // of the figures that are reported
)

// near is the effort for a load, as a share of what there is. Waits at one time
// resemble those before for the longer the less room there is, so that the same
// number of arrivals tells less.
func (e effort) near(load float64) effort {
	e.events = int(float64(e.events) * min(e.patience, max(1, 0.4/(1-load))))
	return e
}

// more is how many times as many arrivals it takes to be sure, up to 5: a client's
// limit makes waits scatter at loads at which workers don't.
func (e effort) more(results []sim.Result) float64 {
	if e.sure == 0 || len(results) < 2 {
		return 1
	}
	var logs []float64
	for _, r := range results {
		// Waits of a tenth of the work hardly matter.
		logs = append(logs, math.Log(1e-9+0.1*r.Work.Mean().Seconds()+r.QueueWait.Quantile(0.99).Seconds()))
	}
	_, deviation := moments(logs)
	return min(5, deviation*deviation/float64(len(logs))/(e.sure*e.sure))
}
