package validate

import "math"

// erlangC is the probability that an arrival finds all c servers busy, for an
// offered load of a = λ/µ below c.
func erlangC(c int, a float64) float64 {
	blocked := 1.0 // Erlang B, by its recursion
	for n := 1; n <= c; n++ {
		blocked = a * blocked / (float64(n) + a*blocked)
	}
	utilisation := a / float64(c)
	return blocked / (1 - utilisation*(1-blocked))
}

// waitMMC is the mean wait in M/M/c in units of the mean service time.
func waitMMC(c int, a float64) float64 { return erlangC(c, a) / (float64(c) - a) }

// waitMG1 is the mean wait in M/G/1 by Pollaczek and Khinchine, in units of the
// mean service time, whose coefficient of variation is cv.
func waitMG1(utilisation, cv float64) float64 {
	return utilisation * (1 + cv*cv) / (2 * (1 - utilisation))
}

// waitMDC is the mean wait in M/D/c in units of the service time (Crommelin
// 1932): with N the arrivals within n service times, the sum over n of
// P(N ≥ nc) - c/a·P(N > nc).
func waitMDC(c int, a float64) float64 {
	wait := 0.0
	for n := 1; ; n++ {
		mean, busy := float64(n)*a, float64(n*c)
		at, above := poissonTail(mean, busy)
		term := at + above - float64(c)/a*above
		wait += term
		if term < 1e-12*wait || at == 0 {
			return wait
		}
	}
}

// poissonTail is the probability of k and that of more, for k above the mean.
func poissonTail(mean, k float64) (at, above float64) {
	factorial, _ := math.Lgamma(k + 1)
	at = math.Exp(k*math.Log(mean) - mean - factorial)
	for p := at; p > 1e-18*at; {
		k++
		p *= mean / k
		above += p
	}
	return at, above
}
