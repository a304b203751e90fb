package tune

import (
	"fmt"
	"math"
	"time"

	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/scrape"
)

// unstaffed refuses a queue of which nothing says how many workers it has: client-go has no
// default, and one that is made up would make up the advice.
func unstaffed(f defaults.Flavour, q scrape.Queue, c predict.Current, interval time.Duration) (why, say string) {
	if c.Workers > 0 {
		return "", ""
	}
	why = "neither its metrics nor a default say how many workers it has"
	if f == defaults.ControllerManager {
		why = "how many workers kube-controller-manager gives it is not known here"
	}
	busy := q.Work.Sum / interval.Seconds()
	return why, fmt.Sprintf("the same scrapes, with --queue %s and the number of goroutines that call its Get as --workers (%s were busy on average)", q.Name, predict.Number(busy))
}

// realInterval is what to record where the interval can't be right.
const realInterval = "the same with the time that the scrapes really cover as --interval (as --duration of one)"

// implausible refuses work that so many workers can't have done in the interval, which is
// then not what it is said to be, and says what to check; nothing if they can.
func implausible(q scrape.Queue, c predict.Current, interval time.Duration) (why, check string) {
	span := interval.Seconds()
	busy := (q.Work.Sum - longest(q.Work, c.Workers)) / span
	if busy <= (1+inaccurate)*float64(c.Workers) {
		return "", ""
	}
	check = fmt.Sprintf("%s, or, if that is right, with the number of workers as --workers (at least %.0f)", realInterval, math.Ceil(busy/(1+inaccurate)))
	if c.Told["workers"] == "metrics" {
		check = realInterval + ": the number of workers is the metrics' own"
	}
	there := fmt.Sprintf("the %d that there are", c.Workers)
	if c.Workers == 1 {
		there = "the only one"
	}
	return fmt.Sprintf("%s workers were busy on average in %v, expected at most %s (%s)", predict.Number(q.Work.Sum/span), interval, there, c.Told["workers"]), check
}

// longest is how long the n longest durations took at most: reconciles under way when
// the interval began are counted in it with what they had taken before.
func longest(h scrape.Histogram, n int) float64 {
	sum, others, left := 0.0, 0.0, float64(n)
	for i := 1; i < len(h.Bounds); i++ {
		others += h.Bounds[i-1] * h.Counts[i]
	}
	for i := len(h.Counts) - 1; i >= 0 && left > 0; i-- {
		k := min(left, h.Counts[i])
		if left -= k; i < len(h.Bounds) {
			sum += k * h.Bounds[i]
		} else if k > 0 {
			sum += h.Sum - others // the last bucket has no end
		}
	}
	return min(sum, h.Sum)
}
