package loadgen

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	arrivalsPoisson  = "poisson"
	arrivalsConstant = "constant"
	arrivalsOnOff    = "onoff"
	arrivalsDiurnal  = "diurnal"
	arrivalsRamp     = "ramp"
	arrivalsStep     = "step"
)

func (a Arrivals) isZero() bool { return a.Kind == "" && a.unpaced() }

// unpaced reports whether all events are due at once.
func (a Arrivals) unpaced() bool { return a.Rate == 0 && a.To == 0 }

// complete fills in the defaults for a workload of that length, 0 if it has none.
func (a *Arrivals) complete(path string, length time.Duration) error {
	if err := cmp.Or(
		oneOf(path+"kind", &a.Kind, arrivalsPoisson, arrivalsConstant, arrivalsOnOff, arrivalsDiurnal, arrivalsRamp, arrivalsStep),
		a.checkFields(path),
		upTo(path+"rate", a.Rate, maxRate),
		lasting(path+"on", a.On),
		lasting(path+"off", a.Off),
		atMost(path+"period", a.Period),
		upTo(path+"swing", a.Swing, 1),
		upTo(path+"to", a.To, maxRate),
		atMost(path+"after", a.After),
		atMost(path+"over", a.Over),
	); err != nil {
		return err
	}
	cycle := 0.0 // how often the rate changes, in seconds
	switch a.Kind {
	case arrivalsOnOff:
		defaults(&a.On, "exp(1s)")
		defaults(&a.Off, "exp(9s)")
		if !(a.On.Mean() > 0) {
			return fault(path+"on", "found %v, expected a mean above 0", a.On)
		}
		cycle = a.On.Mean() + a.Off.Mean()
	case arrivalsDiurnal:
		withDefault(&a.Period, 24*time.Hour)
		withDefault(&a.Swing, 0.5)
		cycle = a.Period.Seconds() / sineSteps
	case arrivalsRamp, arrivalsStep:
		if a.unpaced() {
			return fault(path+"to", "missing beside a rate of 0, expected one of the two above 0")
		}
		if a.Over == 0 && a.Kind == arrivalsRamp {
			if a.Over = length - a.After; a.Over <= 0 {
				return fault(path+"over", "missing, expected how long the ramp lasts, or a duration of the workload beyond after")
			}
		}
		return nil
	default:
		return nil
	}
	if a.Rate == 0 {
		return fault(path+"rate", "missing or 0 with kind %s, expected events a second", a.Kind)
	}
	if cycle < 1e-3 || cycle*a.Rate < 1e-3 {
		return fault(path+"kind", "found %s whose rate changes every %v s at %v events/s, expected changes no faster than 1 ms and a thousandth of an event", a.Kind, cycle, a.Rate)
	}
	return nil
}

// checkFields refuses the fields of another kind.
func (a *Arrivals) checkFields(path string) error {
	changing := []string{arrivalsRamp, arrivalsStep}
	fields := []struct {
		name  string
		given bool
		kinds []string
	}{
		{"on", !a.On.IsZero(), []string{arrivalsOnOff}},
		{"off", !a.Off.IsZero(), []string{arrivalsOnOff}},
		{"period", a.Period != 0, []string{arrivalsDiurnal}},
		{"swing", a.Swing != 0, []string{arrivalsDiurnal}},
		{"to", a.To != 0, changing},
		{"after", a.After != 0, changing},
		{"over", a.Over != 0, changing},
	}
	for _, f := range fields {
		if f.given && !slices.Contains(f.kinds, a.Kind) {
			return fault(path+f.name, "given with kind %s, expected it with kind %s only", a.Kind, choice(f.kinds))
		}
	}
	return nil
}

// arrivals draws the points in time of a process, one after the other. But for
// evenly spaced ones it is a Poisson process whose rate changes: piece by
// piece in straight lines, along which the time until the next arrival has a
// closed form.
type arrivals struct {
	random  random
	rate    float64 // evenly spaced: events a second
	sent    int
	pieces  func() piece // nil: evenly spaced
	current piece
	start   float64 // of the current piece, in seconds
	at      float64 // within it, of the last arrival
}

// A piece of time during which the rate goes from one value to another.
type piece struct{ length, from, to float64 }

var forever = math.Inf(1)

// stampRate is how fast time goes by for objects when events are as fast as possible.
const stampRate = 1000

func newArrivals(a Arrivals, r random) *arrivals {
	it := &arrivals{random: r, rate: a.Rate}
	switch {
	case a.unpaced():
		it.rate = stampRate
	case a.Kind != arrivalsConstant:
		it.pieces = a.pieces(r)
		it.current = it.pieces()
	}
	return it
}

// next returns the time of the next arrival, in order; math.MaxInt64 if there
// is none.
func (it *arrivals) next() time.Duration {
	if it.pieces == nil {
		at := time.Duration(float64(it.sent) / it.rate * float64(time.Second))
		it.sent++
		return at
	}
	wanted := it.random.exp()
	for {
		p := &it.current
		if d := p.until(it.at, wanted); d <= p.length {
			it.at = d
			return duration(it.start + d)
		}
		wanted -= p.events(it.at, p.length)
		it.start += p.length
		it.at = 0
		if it.start > maxDuration.Seconds() {
			return math.MaxInt64
		}
		*p = it.pieces()
	}
}

func duration(seconds float64) time.Duration {
	if seconds >= maxDuration.Seconds() {
		return math.MaxInt64
	}
	return time.Duration(seconds * float64(time.Second))
}

// events is the expected number of arrivals from one time within the piece to another.
func (p piece) events(begin, end float64) float64 {
	if p.from == p.to {
		if p.from == 0 {
			return 0
		}
		return p.from * (end - begin)
	}
	slope := (p.to - p.from) / p.length
	return (end - begin) * (p.from + float64(slope*(begin+end)/2))
}

// until returns the time within the piece by which that many arrivals are
// expected after begin; beyond its length if not within it.
func (p piece) until(begin, wanted float64) float64 {
	if p.from == p.to {
		if p.from == 0 {
			return forever
		}
		return begin + wanted/p.from
	}
	if wanted > p.events(begin, p.length) {
		return forever
	}
	// The root of slope/2·d² + rate·d = wanted that stays exact for small slopes.
	slope := (p.to - p.from) / p.length
	rate := p.from + float64(slope*begin)
	root := math.Sqrt(max(0, float64(rate*rate)+float64(2*slope*wanted)))
	return min(p.length, begin+2*wanted/(rate+root))
}

// sineSteps is how many straight lines stand for a period of a sine: the
// quarters of an hour of a day.
const sineSteps = 96

// pieces returns what yields the pieces of the process in order, the last of
// them without end.
func (a Arrivals) pieces(r random) func() piece {
	switch a.Kind {
	case arrivalsOnOff:
		on, off := a.On.Mean(), a.Off.Mean()
		peak := a.Rate * (on + off) / on
		isOn := r.float() >= on/(on+off) // turned over at once
		return func() piece {
			isOn = !isOn
			if isOn {
				return piece{a.On.Sample(r.Rand), peak, peak}
			}
			return piece{a.Off.Sample(r.Rand), 0, 0}
		}
	case arrivalsDiurnal:
		step := -1
		at := func(step int) float64 {
			return a.Rate * (1 - a.Swing*math.Cos(2*math.Pi*float64(step)/sineSteps))
		}
		return func() piece {
			step = (step + 1) % sineSteps
			return piece{a.Period.Seconds() / sineSteps, at(step), at(step + 1)}
		}
	case arrivalsRamp, arrivalsStep:
		return inTurn(a.changes())
	}
	return func() piece { return piece{forever, a.Rate, a.Rate} }
}

// changes are the pieces of a ramp or a step.
func (a Arrivals) changes() []piece {
	over := cmp.Or(a.Over.Seconds(), forever)
	all := []piece{{a.After.Seconds(), a.Rate, a.Rate}}
	if a.Kind == arrivalsStep {
		return append(all, piece{over, a.To, a.To}, piece{forever, a.Rate, a.Rate})
	}
	return append(all, piece{over, a.Rate, a.To}, piece{forever, a.To, a.To})
}

func inTurn(all []piece) func() piece {
	i := -1
	return func() piece {
		i = min(i+1, len(all)-1)
		return all[i]
	}
}

// Expected is the expected number of arrivals until then: of a process whose
// fields are complete, and in truth, not of the one that a seed draws.
func (a Arrivals) Expected(until time.Duration) float64 {
	t := until.Seconds()
	switch {
	case t <= 0 || a.unpaced():
		return 0
	case a.Kind == arrivalsDiurnal: // whole periods have the mean rate
		period := a.Period.Seconds()
		whole := math.Floor(t / period)
		return a.Rate*period*whole + sum(a.pieces(random{}), t-period*whole)
	case a.Kind == arrivalsRamp || a.Kind == arrivalsStep:
		return sum(a.pieces(random{}), t)
	}
	return a.Rate * t
}

// sum is the expected number of arrivals of pieces until a time.
func sum(next func() piece, t float64) (events float64) {
	for t > 0 {
		p := next()
		d := min(t, p.length)
		events += p.events(0, d)
		t -= d
	}
	return events
}

// Peak is the highest rate, in events a second.
func (a Arrivals) Peak() float64 {
	switch a.Kind {
	case arrivalsOnOff:
		return a.Rate * (a.On.Mean() + a.Off.Mean()) / a.On.Mean()
	case arrivalsDiurnal:
		return a.Rate * (1 + a.Swing)
	case arrivalsRamp, arrivalsStep:
		return max(a.Rate, a.To)
	}
	return a.Rate
}
