package model

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A Kind is a form of arrivals.
type Kind string

// The forms. The zero Kind is arrivals at random (Poisson).
const (
	Random   Kind = ""
	Gaps     Kind = "gaps"     // independent gaps of some spread
	Batches  Kind = "batches"  // some at once, others at random
	Phases   Kind = "phases"   // at random at two rates in turn
	Measured Kind = "measured" // at random, or in batches, at rates that change as those of a series of scrapes
)

// Arrivals is the form of arrivals of any rate.
type Arrivals struct {
	Kind  Kind
	CV    float64   // of gaps: coefficient of variation
	Size  float64   // of batches: how many come at once
	Share float64   // of all arrivals that come in batches
	Even  bool      // batches come at even distances, each key once; phases are all of one length
	Duty  float64   // share of the time at the higher rate
	Depth float64   // 1: nothing comes in between; 0: the rates are alike
	Cycle float64   // seconds from one phase of the higher rate to the next, on average
	Rates []float64 // measured ones, to their mean
	Spans []float64 // seconds that each lasted
}

// High and Low are the rates of phases, to the mean.
func (a *Arrivals) High() float64 { return 1 + a.Depth*(1/a.Duty-1) }

// Low is the lower one.
func (a *Arrivals) Low() float64 { return 1 - a.Depth }

// A stream draws arrivals.
type stream struct {
	a      *Arrivals
	rate   float64
	random *rand.Rand
	gap    randvar.Dist
	at     float64
	ends   float64 // of the phase or step
	level  float64 // its rate, to the mean
	high   bool
	step   int
	batch  float64 // when the next one comes
	part   float64 // of an arrival that batches of a size that isn't whole have left over
}

func (a *Arrivals) stream(rate float64, random *rand.Rand) *stream {
	s := &stream{a: a, rate: rate, random: random, batch: math.Inf(1)}
	switch a.Kind {
	case Gaps:
		s.gap = gapsOf(a.CV, 1/rate)
	case Batches:
		s.batch = s.pause(random.Float64())
	case Phases:
		s.high = random.Float64() >= a.Duty
		s.turn()
		s.ends *= random.Float64()
	case Measured:
		s.rate /= a.Size
		s.step = random.IntN(len(a.Rates)) - 1
		s.turn()
	}
	return s
}

// turn begins the next phase or step.
func (s *stream) turn() {
	if s.a.Kind == Measured {
		s.step = (s.step + 1) % len(s.a.Rates)
		s.level = s.a.Rates[s.step]
		s.ends += s.a.Spans[s.step]
		return
	}
	s.high = !s.high
	length := s.a.Cycle * s.a.Duty
	if s.level = s.a.High(); !s.high {
		s.level, length = s.a.Low(), s.a.Cycle-length
	}
	if !s.a.Even {
		length *= s.random.ExpFloat64()
	}
	s.ends += length
}

func gapsOf(cv, mean float64) randvar.Dist {
	if cv < 0.02 {
		return randvar.Constant(mean)
	}
	d, err := randvar.Gamma(mean, cv)
	if err != nil {
		return randvar.Exponential(mean)
	}
	return d
}

// pause is the time between batches: if at random, whatever share of the mean u is.
func (s *stream) pause(u float64) float64 {
	mean := s.a.Size / (s.a.Share * s.rate)
	if s.a.Even {
		return mean * u
	}
	return mean * s.random.ExpFloat64()
}

// next is when the next arrivals come, and how many; batch tells that they come as one.
func (s *stream) next() (at float64, n int, batch bool) {
	switch s.a.Kind {
	case Random:
		s.at += s.random.ExpFloat64() / s.rate
	case Gaps:
		s.at += s.gap.Sample(s.random)
	case Batches:
		return s.nextBatch()
	default:
		for {
			if s.at += s.random.ExpFloat64() / (s.rate * s.level); s.at < s.ends {
				break
			}
			s.at = s.ends
			s.turn()
		}
		if s.a.Kind == Measured {
			return s.at, s.whole(), s.a.Size > 1
		}
	}
	return s.at, 1, false
}

func (s *stream) nextBatch() (at float64, n int, batch bool) {
	alone := math.Inf(1)
	if s.a.Share < 1 {
		alone = s.at + s.random.ExpFloat64()/(s.rate*(1-s.a.Share))
	}
	if alone < s.batch {
		s.at = alone
		return s.at, 1, false
	}
	s.at = s.batch // what comes alone is at random, so the draw can be forgotten
	s.batch += s.pause(1)
	return s.at, s.whole(), true
}

// whole is how many come in a batch; on average as many as its size says.
func (s *stream) whole() int {
	n, part := math.Modf(s.a.Size + s.part)
	s.part = part
	return int(n)
}

// Counts draws how many arrive in each of consecutive steps, of so many seconds. It takes time
// with phases and batches and not with arrivals.
func (a *Arrivals) Counts(rate float64, spans []float64, random *rand.Rand) []float64 {
	counts := a.levels(rate, spans, random)
	for i, level := range counts {
		mean := rate * spans[i] * level
		switch a.Kind {
		case Gaps:
			counts[i] = max(0, mean+math.Sqrt(mean)*a.CV*random.NormFloat64())
		case Batches:
			batches := mean * a.Share / a.Size
			n := poisson(batches, random)
			if a.Even {
				n = math.Floor(batches + random.Float64())
			}
			counts[i] = a.Size*n + poisson(mean*(1-a.Share), random)
		case Measured:
			counts[i] = a.Size * poisson(mean/a.Size, random)
		default:
			counts[i] = poisson(mean, random)
		}
	}
	return counts
}

// levels are the rates in these steps, to the mean.
func (a *Arrivals) levels(rate float64, spans []float64, random *rand.Rand) []float64 {
	list := slices.Repeat([]float64{1}, len(spans))
	switch a.Kind {
	case Phases:
		s, at := a.stream(rate, random), 0.0
		for i, span := range spans {
			list[i] = 0
			for end := at + span; at < end; {
				until := min(end, s.ends)
				list[i] += (until - at) * s.level / span
				if at = until; at == s.ends {
					s.turn()
				}
			}
		}
	case Measured:
		at := random.IntN(len(a.Rates))
		for i := range list {
			list[i] = a.Rates[(at+i)%len(a.Rates)]
		}
	}
	return list
}

// poisson draws a number of that mean; of large ones as the normal distribution has it.
func poisson(mean float64, random *rand.Rand) float64 {
	if mean > 200 {
		return max(0, math.Round(mean+math.Sqrt(mean)*random.NormFloat64()))
	}
	n := 0.0
	for at := random.ExpFloat64(); at < mean; at += random.ExpFloat64() {
		n++
	}
	return n
}

// Period is the time in which a form of arrivals repeats itself on average, in seconds; 0 of one
// that has none.
func (a *Arrivals) Period(rate float64) float64 {
	switch a.Kind {
	case Batches:
		return a.Size / (a.Share * rate)
	case Phases:
		return a.Cycle
	case Measured:
		sum := 0.0
		for _, span := range a.Spans {
			sum += span
		}
		return sum
	}
	return 0
}

// Dispersion is the index of dispersion of the counts over long windows: 1 of arrivals at random,
// 0 of even ones. Of measured rates it is that of the batches alone.
func (a *Arrivals) Dispersion(rate float64) float64 {
	switch a.Kind {
	case Gaps:
		return a.CV * a.CV
	case Batches:
		return 1 + a.Share*(a.Size-1)
	case Phases:
		x := (a.High() - a.Low()) * a.Duty * (1 - a.Duty)
		return 1 + 2*x*x*rate*a.Cycle // of phases of exponential lengths
	case Measured:
		return a.Size
	}
	return 1
}
