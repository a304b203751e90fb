// Package model describes a controller of which everything is known, and simulates it. Its
// steps, in order:
//
//  1. A [System] is the load: when keys arrive ([Arrivals]), how long a reconcile works, which
//     API calls it makes, how often it fails, how many keys there are. A [Controller] is what
//     works it off.
//  2. [System.Run] simulates both for a while, event by event: arrivals and batches of them, a
//     work queue in which a key waits once, workers, the client's token bucket and the calls of
//     others behind it, retries with their back-off and bucket.
//  3. A [Result] counts what a controller's metrics would, in [Sketch]es.
//
// It is a tenth as expensive as package sim, which simulates an informer and the real queues:
// an arrival takes 0.04 to 0.13 µs. Package sim says what it leaves out. A test compares the two.
package model

import "math"

// A System is a controller's load. Durations are in seconds, rates a second.
type System struct {
	Arrivals   Arrivals
	Rate       float64   // of arrivals
	Keys       int       // that they are spread over; 0: so many that no two meet
	Popular    []float64 // upper ends of the keys' shares of the arrivals; nil: all are alike
	Service    Work      // of a reconcile, without its calls
	Calls      []float64 // probabilities of 0, 1, 2 and more API calls a reconcile
	Latency    float64   // mean of a call once sent, exponential
	Background float64   // calls of others that share the client's limit
	Row        int       // how many of these are made one after another; 0: as many as a reconcile makes
	Others     int       // who make them; 0: as many as it takes
	OthersWork float64   // mean of their reconciles without the calls, exponential
	Failure    float64   // probability that a reconcile fails
}

// A Controller is what works the load off.
type Controller struct {
	Workers     int
	QPS         float64 // the client's limit; 0: none
	Burst       int
	BaseDelay   float64 // of a retry
	MaxDelay    float64
	BucketRate  float64 // retries a second; 0: no bucket
	BucketBurst int
}

// Zipf are the upper ends of the shares of keys of which the k-th changes in proportion to
// 1/k^s.
func Zipf(keys int, s float64) []float64 {
	ends := make([]float64, keys)
	sum := 0.0
	for k := range ends {
		sum += math.Pow(float64(k+1), -s)
		ends[k] = sum
	}
	for k := range ends {
		ends[k] /= sum
	}
	return ends
}

// MeanCalls is how many API calls a reconcile makes on average.
func (s *System) MeanCalls() float64 {
	mean := 0.0
	for n, p := range s.Calls {
		mean += float64(n) * p
	}
	return mean
}

// Load is the largest ratio of what the system takes to what a controller has: workers, calls
// or retries. From 1 on, what waits grows, but for keys that are so few that all of them may wait.
func (s *System) Load(c Controller) float64 {
	reconciles := s.Rate / (1 - s.Failure)
	load := reconciles * (s.Service.Mean() + s.MeanCalls()*s.Latency) / float64(c.Workers)
	if c.QPS > 0 {
		load = max(load, (reconciles*s.MeanCalls()+s.Background)/c.QPS)
	}
	if c.BucketRate > 0 {
		load = max(load, reconciles*s.Failure/c.BucketRate)
	}
	if s.Keys > 0 && s.Keys <= mostFilled {
		load = min(load, 0.999)
	}
	return load
}

// mostFilled is how many keys are simulated until most of them wait; more of them fill a
// queue for so long that it may as well grow without end.
const mostFilled = 100_000
