package ratelimit

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"
)

// A bucket beside golang.org/x/time/rate under one random clock that stands
// still, runs, leaps and at times goes back. The difference allowed is what
// rate's floating point may lose: it truncates to whole nanoseconds what may
// lie just below one, and drops up to 2⁻⁵² of the longest wait at each step.
func TestBucketMatchesRate(t *testing.T) {
	limits := []rate.Limit{10, 1, 100, 3, 7.3, 0.1, 1e-3, 5000, 1e9, 3e9, rate.Every(17 * time.Millisecond), rate.Inf, 0}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom(limits).Draw(t, "limit")
		burst := rapid.SampledFrom([]int{0, 1, 2, 7, 100}).Draw(t, "burst")
		ours := newBucket(limit, burst, math.MaxInt64)
		theirs := rate.NewLimiter(limit, burst)
		begin := time.Unix(1_700_000_000, 0)
		now, longest, steps := time.Duration(0), time.Duration(0), 0
		step := rapid.OneOf(
			rapid.Just(int64(0)),
			rapid.Int64Range(0, 1000),
			rapid.Int64Range(0, 300e6),
			rapid.Int64Range(0, 100e9),
			rapid.Int64Range(-1e9, 0),
		)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			steps++
			now += time.Duration(step.Draw(t, "step"))
			at := begin.Add(now)
			want := theirs.ReserveN(at, 1).DelayFrom(at)
			got := ours.reserve(int64(now))
			if want < math.MaxInt64/2 {
				longest = max(longest, want)
			}
			slack := 1 + float64(steps)*math.Ldexp(float64(longest)+float64(burst)/math.Max(float64(limit), 1e-9)*1e9, -52)
			require.InDelta(t, float64(want), float64(got), slack, "step %d at %v", steps, now)
		}
	})
}

// Beside a burst that takes centuries to come back, rate's tokens are the same too: they
// last as long, and those that follow come one by one. Of its waits, those of a century
// and more are only known to be so long.
func TestBucketOfCenturies(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for _, tt := range []struct {
		limit rate.Limit
		burst int
	}{
		{1e-9, 4}, {1e-9, 5}, {1e-9, 9}, {1e-9, 20}, // 31 years a token
		{2e-10, 3},                // 158 years
		{1e-7, 100}, {1e-7, 1000}, // 4 months
		{1e-5, 100_000}, // a day
	} {
		ours, theirs := newBucket(tt.limit, tt.burst, math.MaxInt64), rate.NewLimiter(tt.limit, tt.burst)
		begin := time.Unix(1_700_000_000, 0)
		for i := range tt.burst + 3 {
			now := time.Duration(i) * time.Microsecond
			at := begin.Add(now)
			want, got := theirs.ReserveN(at, 1).DelayFrom(at), ours.reserve(int64(now))
			// Older versions of x/time overflow there, and let the caller go at once.
			if float64(i+1-tt.burst)/float64(tt.limit) > century.Seconds() {
				require.Greater(t, got, century, "%v, token %d", tt, i)
				continue
			}
			// Tokens in floating point are exact to 2⁻⁵² of the burst.
			require.InDelta(t, float64(want), float64(got), 1+float64(i)*math.Ldexp(float64(tt.burst)/float64(tt.limit)*1e9, -52), "%v, token %d", tt, i)
		}
	}
}

// A limit that is no number makes nobody wait, as there.
func TestBucketWithoutANumber(t *testing.T) {
	limit, at := rate.Limit(math.NaN()), time.Unix(1_700_000_000, 0)
	for _, burst := range []int{0, 3} {
		ours, theirs := newBucket(limit, burst, math.MaxInt64), rate.NewLimiter(limit, burst)
		for range 10 {
			require.Equal(t, theirs.ReserveN(at, 1).DelayFrom(at), ours.reserve(5), "burst %d", burst)
		}
	}
}

// Where the interval is whole, a bucket is exact: n tokens beyond the burst
// take n intervals to the nanosecond, however many they are.
func TestBucketIsExact(t *testing.T) {
	b := newBucket(10, 100, math.MaxInt64)
	for range 100 {
		require.Zero(t, b.reserve(5))
	}
	for i := 1; i <= 100_000; i++ {
		require.Equal(t, time.Duration(i)*100*time.Millisecond, b.reserve(5))
	}
}

// A third of a second is kept with its fraction: 3n tokens take n seconds.
func TestBucketKeepsFractions(t *testing.T) {
	b := newBucket(3, 1, math.MaxInt64)
	require.Zero(t, b.reserve(0))
	for i := 1; i <= 3000; i++ {
		got := b.reserve(0)
		require.InDelta(t, float64(i)*1e9/3, float64(got), 1, "token %d", i)
	}
}

// A reservation past the horizon is refused, so the bucket is usable again one
// horizon after a storm (kubernetes/kubernetes#104554).
func TestBucketHorizon(t *testing.T) {
	b := newBucket(10, 100, 30*time.Second)
	var last time.Duration
	for range 10_000 {
		last = b.reserve(0)
	}
	require.Equal(t, 30*time.Second, last)
	require.LessOrEqual(t, b.reserve(int64(30*time.Second)), 100*time.Millisecond)
}

func TestBucketSaturates(t *testing.T) {
	b := newBucket(1e-9, 2, math.MaxInt64) // 31 years a token
	for range 100 {
		require.GreaterOrEqual(t, b.reserve(0), time.Duration(0))
	}
	b = newBucket(1e-12, 2, math.MaxInt64)
	require.Zero(t, b.reserve(0))
	require.Zero(t, b.reserve(0))
	require.Equal(t, time.Duration(rate.InfDuration), b.reserve(0))
}
