package tune

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// A system is a controller whose truth is known. It is simulated here by a few
// plain lines that share nothing with package sim.
type system struct {
	name    string
	rate    float64                     // arrivals a second
	burst   func(*rand.Rand) [2]float64 // lengths of the next burst and pause, in seconds, or their means; nil: at random
	service func(*rand.Rand) float64
	mean    float64 // of service
	workers int
	calls   int
	latency float64 // of a call, exponential
	qps     float64
	tokens  int
	failure float64
	keys    int       // 0: every arrival has a key of its own
	batch   int       // arrivals that come at once; 0: one
	bounds  []float64 // of the queue's histograms; nil: client-go's
	runtime bool      // its metrics are controller-runtime's, without work durations
}

// observed is what a system's metrics hold.
type observed struct {
	adds, retries, failures      float64
	wait, work, limiter, request []float64
	span                         float64
	bounds                       []float64
	workers                      int // by controller-runtime's families, which then replace the work durations
}

type happening struct {
	at   float64
	kind int // 0 arrival, 1 step of a worker, 2 retry
	key  int
	got  float64 // when the worker took the key
	left int     // calls
}

type agenda []happening

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(happening)) }
func (a *agenda) Pop() any {
	x := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return x
}

// run simulates for span seconds after a warm-up.
func (s system) run(seed uint64, span float64) observed {
	r := rand.New(rand.NewPCG(seed, 7))
	warm := min(span/5, 600)
	end := warm + span
	x := observed{span: span, bounds: workBounds}
	if s.runtime {
		x.workers = s.workers
	}
	if s.bounds != nil {
		x.bounds = s.bounds
	}
	var todo agenda
	var queue []int
	added, dirty, processing, failures := map[int]float64{}, map[int]bool{}, map[int]bool{}, map[int]int{}
	idle, fresh := s.workers, 0
	bucket, filled := float64(s.tokens), 0.0
	retryBucket, retryFilled := 100.0, 0.0
	on, phase := true, 0.0
	batch := max(1, s.batch)
	rate := s.rate / float64(batch)
	next := func(now float64) float64 {
		if s.burst == nil {
			return now + r.ExpFloat64()/rate
		}
		for {
			if on {
				if phase == 0 {
					phase = now + s.burst(r)[0]
				}
				pair := s.burst(nil)
				if at := now + r.ExpFloat64()/(rate*(pair[0]+pair[1])/pair[0]); at < phase {
					return at
				}
				now, on = phase, false
			}
			now += s.burst(r)[1]
			on, phase = true, 0
		}
	}
	add := func(key int, now float64) {
		if dirty[key] {
			return
		}
		if now > warm {
			x.adds++
		}
		dirty[key], added[key] = true, now
		if !processing[key] {
			queue = append(queue, key)
		}
	}
	heap.Push(&todo, happening{at: next(0)})
	for len(todo) > 0 {
		h := heap.Pop(&todo).(happening)
		now := h.at
		if now > end {
			break
		}
		switch h.kind {
		case 0:
			for range batch {
				key := -fresh
				fresh++
				if s.keys > 0 {
					key = r.IntN(s.keys)
				}
				add(key, now)
			}
			heap.Push(&todo, happening{at: next(now)})
		case 2:
			add(h.key, now)
		case 1:
			if h.left > 0 {
				wait := 0.0
				if s.qps > 0 {
					bucket = min(float64(s.tokens), bucket+(now-filled)*s.qps) - 1
					filled = now
					if bucket < 0 {
						wait = -bucket / s.qps
					}
				}
				latency := r.ExpFloat64() * s.latency
				if now > warm {
					x.limiter = append(x.limiter, wait)
					x.request = append(x.request, wait+latency)
				}
				heap.Push(&todo, happening{at: now + wait + latency, kind: 1, key: h.key, got: h.got, left: h.left - 1})
				continue
			}
			if now > warm {
				x.work = append(x.work, now-h.got)
			}
			idle++
			if s.failure > 0 && r.Float64() < s.failure {
				if now > warm {
					x.retries++
					x.failures++
				}
				delay := 0.005 * math.Pow(2, float64(failures[h.key]))
				failures[h.key]++
				retryBucket = min(100, retryBucket+(now-retryFilled)*10) - 1
				retryFilled = now
				heap.Push(&todo, happening{at: now + max(min(delay, 1000), -retryBucket/10), kind: 2, key: h.key})
			} else {
				delete(failures, h.key)
			}
			delete(processing, h.key)
			if dirty[h.key] {
				queue = append(queue, h.key)
			}
		}
		for idle > 0 && len(queue) > 0 {
			key := queue[0]
			queue = queue[1:]
			idle--
			if now > warm {
				x.wait = append(x.wait, now-added[key])
			}
			delete(dirty, key)
			processing[key] = true
			heap.Push(&todo, happening{at: now + s.service(r), kind: 1, key: key, got: now, left: s.calls})
		}
	}
	return x
}

func percentile(values []float64, p float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[int(p*float64(len(sorted)-1))]
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func exponentially(mean float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return mean * r.ExpFloat64() }
}

func lognormally(mean, cv float64) func(*rand.Rand) float64 {
	sigma := math.Sqrt(math.Log1p(cv * cv))
	return func(r *rand.Rand) float64 { return mean * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2) }
}

// bimodally are few long reconciles among short ones.
func bimodally(short, long, share float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return long
		}
		return short
	}
}

func uniformly(low, high float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return low + (high-low)*r.Float64() }
}

// stepwise is a sum of exponential steps.
func stepwise(mean float64, steps int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		sum := 0.0
		for range steps {
			sum += mean / float64(steps) * r.ExpFloat64()
		}
		return sum
	}
}

// mixed is of a with that share, else of b.
func mixed(share float64, a, b func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return a(r)
		}
		return b(r)
	}
}

func always(mean float64) func(*rand.Rand) float64 {
	return func(*rand.Rand) float64 { return mean }
}

// paretically is Pareto's, with that exponent.
func paretically(mean, exponent float64) func(*rand.Rand) float64 {
	low := mean * (exponent - 1) / exponent
	return func(r *rand.Rand) float64 { return low * math.Pow(1-r.Float64(), -1/exponent) }
}

// bursting are exponential bursts and pauses of these means.
func bursting(on, off float64) func(*rand.Rand) [2]float64 {
	return func(r *rand.Rand) [2]float64 {
		if r == nil {
			return [2]float64{on, off}
		}
		return [2]float64{on * r.ExpFloat64(), off * r.ExpFloat64()}
	}
}
