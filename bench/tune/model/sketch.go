package model

import "math"

// A Sketch counts durations in buckets that are 1.6% wide, from a microsecond to half a year.
// The zero Sketch is empty.
type Sketch struct {
	n      int
	sum    float64
	counts []uint32 // nil: empty
}

const (
	octaves   = 44
	perOctave = 64
	shortest  = 1.0 / (1 << 20) // seconds: what is shorter is in the first bucket
	offset    = (1023 - 20) * perOctave
)

// Add counts a duration, in seconds.
func (s *Sketch) Add(x float64) {
	if s.counts == nil {
		s.counts = make([]uint32, octaves*perOctave)
	}
	s.n++
	s.sum += x
	at := 0
	if x > shortest {
		// Exponent and the first six digits of a float64.
		at = min(int(math.Float64bits(x)>>46)-offset, octaves*perOctave-1)
	}
	s.counts[at]++
}

// Count is how many durations there are.
func (s *Sketch) Count() int { return s.n }

// Mean is exact; 0 of nothing.
func (s *Sketch) Mean() float64 { return s.sum / float64(max(1, s.n)) }

func bounds(bucket int) (low, high float64) {
	if bucket > 0 {
		low = math.Float64frombits(uint64(bucket+offset) << 46)
	}
	return low, math.Float64frombits(uint64(bucket+offset+1) << 46)
}

// Quantile is the p-quantile, in seconds; 0 of nothing.
func (s *Sketch) Quantile(p float64) float64 {
	left := p * float64(s.n-1)
	for i, n := range s.counts {
		if left -= float64(n); left < 0 {
			if i == 0 {
				return 0
			}
			low, high := bounds(i)
			return high + (high-low)*left/float64(n)
		}
	}
	return 0
}

// Below are the shares of the durations up to each of these, which rise.
func (s *Sketch) Below(ends []float64) []float64 {
	shares := make([]float64, len(ends))
	sum, bucket := 0.0, 0
	for k, end := range ends {
		for ; bucket < len(s.counts); bucket++ {
			n := float64(s.counts[bucket])
			if low, high := bounds(bucket); high > end {
				shares[k] = max(0, n*(end-low)/(high-low))
				break
			}
			sum += n
		}
		shares[k] = (shares[k] + sum) / max(1, float64(s.n))
	}
	return shares
}
