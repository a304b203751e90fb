// Package statistic holds the arithmetic behind verdicts: benchstat's medians and
// U-test, the paired ratio over rounds, Holm's correction.
package statistic

import (
	"cmp"
	"math"
	"slices"
)

// PairedRatio estimates the ratio between two arms from the logs of their
// ratios in each round: the Hodges–Lehmann estimate (the median of all Walsh
// averages) with the interval that inverts Wilcoxon's signed-rank test.
//
// Why this one: a round's noise that both arms share cancels in the ratio; the
// remaining log-ratio of two equal arms is symmetric about 0 whatever the
// noise looks like, because the arms are shuffled, and symmetry is all that
// the signed-rank interval asks for. A Student interval asks for normality
// and follows a single outlier; a bootstrap over 6–10 rounds is too narrow.
// With fewer rounds than the confidence needs, the interval is open.
func PairedRatio(logs []float64, confidence float64) (ratio, low, high float64) {
	n := len(logs)
	if n == 0 {
		return math.NaN(), 0, math.Inf(1)
	}
	if n > manyRounds {
		return pairedOfMany(logs, confidence)
	}
	walsh := make([]float64, 0, n*(n+1)/2)
	for i, a := range logs {
		for _, b := range logs[i:] {
			walsh = append(walsh, (a+b)/2)
		}
	}
	slices.Sort(walsh)
	ratio = math.Exp((walsh[(len(walsh)-1)/2] + walsh[len(walsh)/2]) / 2)
	k := signedRankCritical(n, (1-confidence)/2)
	if k < 0 {
		return ratio, 0, math.Inf(1)
	}
	return ratio, math.Exp(walsh[k]), math.Exp(walsh[len(walsh)-1-k])
}

// manyRounds is from how many rounds the Walsh averages are too many to list.
const manyRounds = 1000

// pairedOfMany is PairedRatio without a list of the Walsh averages: bisection
// finds the one that so many are not above.
func pairedOfMany(logs []float64, confidence float64) (ratio, low, high float64) {
	n := len(logs)
	sorted := slices.Sorted(slices.Values(logs))
	upTo := func(x float64) (count int) { // the averages up to x, from both ends
		j := n - 1
		for i := 0; i <= j; i++ {
			for j >= i && (sorted[i]+sorted[j])/2 > x {
				j--
			}
			count += max(0, j-i+1)
		}
		return count
	}
	at := func(k int) float64 { // the k-th smallest, from 0
		a, b := sorted[0], sorted[n-1]
		for range 64 {
			if middle := (a + b) / 2; upTo(middle) > k {
				b = middle
			} else {
				a = middle
			}
		}
		return b
	}
	all := n * (n + 1) / 2
	k := signedRankCritical(n, (1-confidence)/2)
	return math.Exp((at((all-1)/2) + at(all/2)) / 2), math.Exp(at(k)), math.Exp(at(all - 1 - k))
}

// SignedRank is the two-sided p-value of Wilcoxon's signed-rank test that the
// log-ratios are symmetric about 0. It sees small differences through a drift
// that hides them from the U-test, but needs more rounds: no p-value of n
// rounds is below 2/2ⁿ.
func SignedRank(logs []float64) float64 {
	logs = slices.DeleteFunc(slices.Clone(logs), func(x float64) bool { return x == 0 })
	n := len(logs)
	slices.SortFunc(logs, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	positive := 0.0
	for i := 0; i < n; {
		j := i
		for j < n && math.Abs(logs[j]) == math.Abs(logs[i]) {
			j++
		}
		for _, x := range logs[i:j] {
			if x > 0 {
				positive += float64(i+j+1) / 2 // ties share the mean of their ranks
			}
		}
		i = j
	}
	total := float64(n*(n+1)) / 2
	return min(1, 2*signedRankTail(n, int(math.Ceil(min(positive, total-positive)))))
}

// exactRanks is the largest number of rounds for which the distribution is
// computed; the normal approximation is off by less than one rank above.
const exactRanks = 50

func signedRankNormal(n int) (mean, sd float64) {
	total := float64(n*(n+1)) / 2
	return total / 2, math.Sqrt(total * float64(2*n+1) / 12)
}

// signedRankShares[w] is the share of sign patterns of n differences with rank
// sum w.
func signedRankShares(n int) []float64 {
	shares := make([]float64, n*(n+1)/2+1)
	shares[0] = 1
	for rank := 1; rank <= n; rank++ {
		for w := len(shares) - 1; w >= 0; w-- {
			shares[w] /= 2
			if w >= rank {
				shares[w] += shares[w-rank] / 2
			}
		}
	}
	return shares
}

// signedRankTail is P(W ≤ w).
func signedRankTail(n, w int) float64 {
	if n > exactRanks {
		mean, sd := signedRankNormal(n)
		return math.Erfc((mean-float64(w)-0.5)/sd/math.Sqrt2) / 2
	}
	sum := 0.0
	for _, share := range signedRankShares(n)[:w+1] {
		sum += share
	}
	return sum
}

// signedRankCritical is the largest k with P(W ≤ k) ≤ tail, or -1 if even
// P(W = 0) is larger. The k+1st smallest Walsh average is then the lower bound
// of the interval.
func signedRankCritical(n int, tail float64) int {
	if n > exactRanks {
		mean, sd := signedRankNormal(n)
		return int(math.Floor(mean + sd*math.Sqrt2*math.Erfinv(2*tail-1) - 0.5))
	}
	sum := 0.0
	for w, share := range signedRankShares(n) {
		if sum += share; sum > tail {
			return w - 1
		}
	}
	return n
}

// HalfWidth is that of a ratio's interval, relative to its middle: 0.05 for
// ±5%.
func HalfWidth(low, high float64) float64 {
	if low <= 0 || math.IsInf(high, 1) {
		return math.Inf(1)
	}
	return math.Sqrt(high/low) - 1
}

// Geomean is the geometric mean of ratios.
func Geomean(ratios []float64) float64 {
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}
