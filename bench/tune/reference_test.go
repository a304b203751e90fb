package tune

import (
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
	gap     func(*rand.Rand) float64    // between arrivals, of mean 1/rate; nil: exponential
	sweep   [2]float64                  // beside the others: seconds between, arrivals at once
	service func(*rand.Rand) float64
	mean    float64 // of service
	workers int
	calls   int
	callers float64 // share of the reconciles that make them; 0: all
	latency float64 // of a call, exponential
	qps     float64
	tokens  int
	failure float64
	keys    int       // 0: every arrival has a key of its own
	untold  bool      // how many keys
	unlike  float64   // the k-th key changes in proportion to 1/k to that; 0: all alike
	batch   int       // arrivals that come at once; 0: one
	alone   float64   // share of the arrivals that come in no batch
	bounds  []float64 // of the queue's histograms; nil: client-go's
	long    float64   // seconds for which it is measured at least
	runtime bool      // its metrics are controller-runtime's, without work durations, and its retries have no bucket
}

// observed is what a system's metrics hold.
type observed struct {
	adds, retries, failures      float64
	wait, work, limiter, request []float64
	// When each key was added, taken and done, in seconds since the begin.
	addedAt, takenAt, doneAt []float64
	span                     float64
	bounds                   []float64
	workers                  int // by controller-runtime's families, which then replace the work durations
}

type happening struct {
	at   float64
	kind int // 0 arrival, 1 step of a worker, 2 retry
	key  int
	got  float64 // when the worker took the key
	left int     // calls
}

// An agenda is a heap.
type agenda []happening

func (a *agenda) push(x happening) {
	*a = append(*a, x)
	h := *a
	for i := len(h) - 1; i > 0 && h[i].at < h[(i-1)/2].at; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (a *agenda) pop() happening {
	h := *a
	first, last := h[0], len(h)-1
	h[0], *a = h[last], h[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h[child].at < h[least].at {
				least = child
			}
		}
		if least == i {
			return first
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
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
	most := int(1.1*span*s.rate/(1-s.failure)) + 1000
	x.wait, x.work = make([]float64, 0, most), make([]float64, 0, most)
	if s.calls > 0 {
		x.limiter, x.request = make([]float64, 0, most*s.calls), make([]float64, 0, most*s.calls)
	}
	var todo agenda
	var queue []int
	type state struct {
		added             float64
		dirty, processing bool
		failures          int
	}
	keys := map[int]*state{} // without those that rest
	of := func(key int) *state {
		k := keys[key]
		if k == nil {
			k = &state{}
			keys[key] = k
		}
		return k
	}
	idle, fresh := s.workers, 0
	bucket, filled := float64(s.tokens), 0.0
	retryBucket, retryFilled := 100.0, 0.0
	on, phase := true, 0.0
	batch := max(1, s.batch)
	rate := s.rate
	if s.sweep[0] > 0 {
		rate -= s.sweep[1] / s.sweep[0]
		todo.push(happening{at: s.sweep[0] * r.Float64(), kind: 3})
	}
	times := s.alone + (1-s.alone)/float64(batch) // at which any arrive, to an arrival
	rate *= times
	next := func(now float64) float64 {
		switch {
		case s.gap != nil:
			return now + s.gap(r)
		case s.burst == nil:
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
	pick := func() int { return r.IntN(s.keys) }
	if s.unlike > 0 {
		upTo := make([]float64, s.keys)
		for k := range upTo {
			upTo[k] = upTo[max(k-1, 0)] + math.Pow(float64(k+1), -s.unlike)
		}
		pick = func() int {
			k, _ := slices.BinarySearch(upTo, r.Float64()*upTo[s.keys-1])
			return k
		}
	}
	add := func(key int, now float64) {
		k := of(key)
		if k.dirty {
			return
		}
		if now > warm {
			x.adds++
			x.addedAt = append(x.addedAt, now-warm)
		}
		k.dirty, k.added = true, now
		if !k.processing {
			queue = append(queue, key)
		}
	}
	todo.push(happening{at: next(0)})
	for len(todo) > 0 {
		h := todo.pop()
		now := h.at
		if now > end {
			break
		}
		switch h.kind {
		case 0:
			n := batch
			if s.alone > 0 && r.Float64() < s.alone/times {
				n = 1
			}
			for range n {
				key := -fresh
				fresh++
				if s.keys > 0 {
					key = pick()
				}
				add(key, now)
			}
			todo.push(happening{at: next(now)})
		case 3:
			for n := range int(s.sweep[1]) {
				key := n
				if s.keys == 0 {
					key = -fresh
					fresh++
				}
				add(key, now)
			}
			todo.push(happening{at: now + s.sweep[0], kind: 3})
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
				todo.push(happening{at: now + wait + latency, kind: 1, key: h.key, got: h.got, left: h.left - 1})
				continue
			}
			if now > warm {
				x.work, x.doneAt = append(x.work, now-h.got), append(x.doneAt, now-warm)
			}
			idle++
			k := of(h.key)
			k.processing = false
			if s.failure > 0 && r.Float64() < s.failure {
				if now > warm {
					x.retries++
					x.failures++
				}
				delay := 0.005 * math.Pow(2, float64(k.failures))
				k.failures++
				delay = min(delay, 1000)
				if !s.runtime {
					retryBucket = min(100, retryBucket+(now-retryFilled)*10) - 1
					retryFilled = now
					delay = max(delay, -retryBucket/10)
				}
				todo.push(happening{at: now + delay, kind: 2, key: h.key})
			} else {
				k.failures = 0
			}
			if k.dirty {
				queue = append(queue, h.key)
			} else if k.failures == 0 {
				delete(keys, h.key)
			}
		}
		for idle > 0 && len(queue) > 0 {
			key := queue[0]
			queue = queue[1:]
			idle--
			k := of(key)
			if now > warm {
				x.wait, x.takenAt = append(x.wait, now-k.added), append(x.takenAt, now-warm)
			}
			k.dirty, k.processing = false, true
			calls := s.calls
			if s.callers > 0 && r.Float64() >= s.callers {
				calls = 0
			}
			todo.push(happening{at: now + s.service(r), kind: 1, key: key, got: now, left: calls})
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
