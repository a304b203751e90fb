package impltest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"
)

type newRateLimiter = func() workqueue.TypedRateLimiter[string]

// TestRateLimiter tests an implementation of the default controller rate limiter:
// the maximum of an exponential back-off of each item, from 5 ms to 1,000 s, and
// one bucket for all items, 10 a second with a burst of 100. Relaxes names the
// clauses that it gives up.
func TestRateLimiter(t *testing.T, new func() workqueue.TypedRateLimiter[string], relaxes ...string) {
	t.Helper()
	runClauses(t, rateLimiterClauses(), new, relaxes)
}

func rateLimiterClauses() []clause[newRateLimiter] {
	return slices.Concat(backOffClauses, bucketClauses)
}

// The default limiter's parameters.
const (
	baseDelay   = 5 * time.Millisecond
	maxDelay    = 1000 * time.Second
	bucketBurst = 100
	bucketEvery = 100 * time.Millisecond
)

// backOff is the exponential part of the default limiter after n failures.
func backOff(n int) time.Duration {
	if n >= 18 { // 5 ms doubled 18 times is more than 1,000 s
		return maxDelay
	}
	return baseDelay << n
}

// reservation is the bucket's part when n reservations were made at one moment.
func reservation(n int) time.Duration {
	return max(0, time.Duration(n+1-bucketBurst)*bucketEvery)
}

// rounding is what computing the bucket in floating point may cost.
const rounding = float64(time.Microsecond)

var backOffClauses = []clause[newRateLimiter]{
	{name: "exponential", contract: "rate limiter 1", run: limiterExponential,
		reason: "the delay doubles with each failure of an item, from 5 ms"},
	{name: "clamped", contract: "rate limiter 1", run: limiterClamped,
		reason: "the delay of an item ends at 1,000 s, or a failing object is forgotten for days"},
	{name: "no-overflow", contract: "rate limiter 1", run: limiterNoOverflow,
		reason: "no number of failures makes the delay small again, or a failing object becomes a hot loop"},
	{name: "failures-by-item", contract: "rate limiter 1", run: limiterFailuresByItem,
		reason: "the failures of one item don't delay another"},
	{name: "forget-resets", contract: "rate limiter 1", run: limiterForgetResets,
		reason: "Forget ends the back-off of an item: its next failure is its first"},
	{name: "num-requeues", contract: "rate limiter 1", run: limiterNumRequeues,
		reason: "NumRequeues is the number of When calls since the last Forget; controllers give up by it"},
	{name: "failures-kept", contract: "rate limiter 1", run: limiterFailuresKept, weaker: limiterFailuresKeptRelaxed,
		reason: "the failures of an item are kept until Forget, however many other items fail"},
	{name: "no-retained-forgotten", contract: "rate limiter 1", run: limiterNoRetainedForgotten,
		reason: "an item that was forgotten is not kept alive by the limiter"},
	{name: "limiter-concurrent", contract: "rate limiter", run: limiterConcurrent,
		reason: "no failure is lost when workers report at the same time"},
}

func limiterExponential(t *trial, new newRateLimiter) {
	l := new()
	for n := range 17 {
		assert.Equal(t, backOff(n), l.When("a"), "When after %d failures", n)
	}
}

func limiterClamped(t *trial, new newRateLimiter) {
	t.needs("exponential")
	l := new()
	for n := range 90 {
		assert.Equal(t, backOff(n), l.When("a"), "When after %d failures", n)
	}
}

func limiterNoOverflow(t *trial, new newRateLimiter) {
	t.needs("exponential", "clamped", "num-requeues")
	l := new()
	for n := range 10_000 {
		if d := l.When("a"); n >= 18 && d != maxDelay {
			t.Fatalf("When after %d failures: %v, expected %v", n, d, maxDelay)
		}
	}
	assert.Equal(t, 10_000, l.NumRequeues("a"), "NumRequeues after 10,000 failures")
}

func limiterFailuresByItem(t *trial, new newRateLimiter) {
	t.needs("exponential", "num-requeues")
	l := new()
	for range 10 {
		l.When("a")
	}
	assert.Equal(t, baseDelay, l.When("b"), "first When of b after 10 failures of a")
	assert.Equal(t, 10, l.NumRequeues("a"))
	assert.Equal(t, 1, l.NumRequeues("b"))
}

func limiterForgetResets(t *trial, new newRateLimiter) {
	t.needs("exponential", "num-requeues")
	l := new()
	for range 10 {
		l.When("a")
		l.When("b")
	}
	l.Forget("a")
	assert.Equal(t, 0, l.NumRequeues("a"), "NumRequeues after Forget")
	assert.Equal(t, baseDelay, l.When("a"), "When after Forget")
	assert.Equal(t, 10, l.NumRequeues("b"), "NumRequeues of another item")
	assert.Equal(t, backOff(10), l.When("b"), "When of another item")
}

func limiterNumRequeues(t *trial, new newRateLimiter) {
	l := new()
	assert.Equal(t, 0, l.NumRequeues("a"), "of an unknown item")
	l.Forget("a")
	assert.Equal(t, 0, l.NumRequeues("a"), "of an unknown item after Forget")
	for n := range 30 {
		l.When("a")
		assert.Equal(t, n+1, l.NumRequeues("a"), "after %d calls of When", n+1)
	}
}

func limiterFailuresKept(t *trial, new newRateLimiter) { expectFailuresKept(t, new(), 200_000) }

func limiterFailuresKeptRelaxed(t *trial, new newRateLimiter) { expectFailuresKept(t, new(), 2_000) }

func limiterNoRetainedForgotten(t *trial, new newRateLimiter) {
	t.needs("forget-resets")
	l := new()
	expectForgotten(t, l)
}

func limiterConcurrent(t *trial, new newRateLimiter) {
	t.needs("num-requeues", "exponential")
	l := new()
	const workers, each = 8, 10
	var (
		mu      sync.Mutex
		got     []time.Duration
		reports sync.WaitGroup
	)
	for w := range workers {
		reports.Add(1)
		t.Go(func() {
			defer reports.Done()
			for range each {
				d := l.When("shared")
				l.When(fmt.Sprint("own-", w))
				l.Forget(fmt.Sprint("own-", w))
				mu.Lock()
				got = append(got, d)
				mu.Unlock()
			}
		})
	}
	reports.Wait()
	assert.Equal(t, workers*each, l.NumRequeues("shared"))
	// The bucket delays by 6 s at most here: the back-off shows above it.
	var long, wantLong int
	for _, d := range got {
		if d >= backOff(11) {
			long++
		}
	}
	for n := range workers * each {
		if backOff(n) >= backOff(11) {
			wantLong++
		}
	}
	assert.Equal(t, wantLong, long, "delays of %v and more in %v", backOff(11), got)
}

// expectFailuresKept makes n items fail up to three times, forgets every other
// one and checks what is left.
func expectFailuresKept(t *trial, l workqueue.TypedRateLimiter[string], n int) {
	t.needs("num-requeues", "forget-resets")
	names := keys("key", n)
	for i, name := range names {
		for range 1 + i%3 {
			l.When(name)
		}
		if i%2 == 0 {
			l.Forget(name)
		}
	}
	for i, name := range names {
		want := 0
		if i%2 == 1 {
			want = 1 + i%3
		}
		if got := l.NumRequeues(name); got != want {
			t.Fatalf("NumRequeues(%s) after %d items failed: %d, expected %d", name, n, got, want)
		}
	}
}

var bucketClauses = []clause[newRateLimiter]{
	{name: "bucket-burst", contract: "rate limiter 2", run: limiterBucketBurst,
		reason: "the first 100 retries of all items together are not delayed by the bucket"},
	{name: "bucket-debt", contract: "rate limiter 2", run: limiterBucketDebt, weaker: limiterBucketDebtRelaxed,
		reason: "beyond the burst every When reserves a tenth of a second, so retries spread out at 10 a second"},
	{name: "bucket-refills", contract: "rate limiter 2", run: limiterBucketRefills,
		reason: "the bucket fills at 10 a second up to 100"},
	{name: "bucket-ignores-forget", contract: "rate limiter 2", run: limiterBucketIgnoresForget,
		reason: "Forget gives nothing back to the bucket, which protects the API server"},
	{name: "max-of", contract: "rate limiter 3", run: limiterMaxOf,
		reason: "the delay is the longer one of the item's back-off and the bucket's, and both count every call"},
	{name: "limiter-differential", contract: "rate limiter", run: limiterDifferential,
		reason: "on random calls every delay and every count is the one of client-go's limiter"},
}

func limiterBucketBurst(t *trial, new newRateLimiter) {
	t.needs("exponential")
	l := new()
	for n, name := range keys("key", bucketBurst) {
		assert.Equal(t, baseDelay, l.When(name), "When %d", n+1)
	}
	assert.Greater(t, l.When("one-more"), baseDelay, "When 101")
}

func limiterBucketDebt(t *trial, new newRateLimiter) {
	t.needs("exponential", "bucket-burst")
	l := new()
	for n, name := range keys("key", 1000) {
		assert.InDelta(t, max(baseDelay, reservation(n)), l.When(name), rounding, "When %d", n+1)
	}
}

func limiterBucketDebtRelaxed(t *trial, new newRateLimiter) {
	t.needs("exponential")
	l := new()
	for n, name := range keys("key", 1000) {
		d := l.When(name)
		assert.GreaterOrEqual(t, d, baseDelay, "When %d", n+1)
		assert.LessOrEqual(t, float64(d), float64(max(baseDelay, reservation(n)))+rounding, "When %d", n+1)
	}
}

func limiterBucketRefills(t *trial, new newRateLimiter) {
	t.needs("exponential", "bucket-burst")
	l := new()
	spend := func(prefix string, n int) (last time.Duration) {
		for _, name := range keys(prefix, n) {
			last = l.When(name)
		}
		return last
	}
	spend("burst", bucketBurst)
	time.Sleep(3 * time.Second)
	assert.Equal(t, baseDelay, spend("refill", 30), "When 30 of 30 after 3 s")
	assert.InDelta(t, 100*time.Millisecond, spend("beyond", 1), rounding, "When 31")
	time.Sleep(time.Hour)
	assert.Equal(t, baseDelay, spend("full", bucketBurst), "When 100 of 100 after an hour")
	assert.InDelta(t, 100*time.Millisecond, spend("over", 1), rounding, "When 101 after an hour")
}

func limiterBucketIgnoresForget(t *trial, new newRateLimiter) {
	t.needs("exponential", "bucket-burst")
	l := new()
	for range 150 {
		l.When("a")
		l.Forget("a")
	}
	assert.InDelta(t, reservation(150), l.When("b"), rounding, "When 151")
}

func limiterMaxOf(t *trial, new newRateLimiter) {
	t.needs("exponential", "clamped", "bucket-burst", "num-requeues")
	l := new()
	for range 150 {
		l.When("failing")
	}
	assert.Equal(t, maxDelay, l.When("failing"), "the back-off is longer")
	assert.InDelta(t, reservation(151), l.When("new"), rounding, "the bucket is longer")
	assert.Equal(t, 151, l.NumRequeues("failing"))
}

func limiterDifferential(t *trial, new newRateLimiter) {
	t.needs("exponential", "clamped", "bucket-burst", "num-requeues", "forget-resets")
	rnd := t.Rand()
	for range 10 {
		l, want := new(), workqueue.DefaultTypedControllerRateLimiter[string]()
		names, log := keys("key", 1+rnd.IntN(30)), callLog{t: t}
		for range 500 {
			name := names[rnd.IntN(len(names))]
			switch op := rnd.IntN(20); {
			case op < 14:
				log.add("When(%s)", name)
				got, expected := l.When(name), want.When(name)
				if delta := got - expected; !t.relaxed("bucket-debt") && (delta > time.Microsecond || delta < -time.Microsecond) {
					log.equal(expected, got, "When")
				}
			case op < 17:
				log.add("Forget(%s)", name)
				l.Forget(name)
				want.Forget(name)
			default:
				d := time.Duration(rnd.Int64N(int64(300 * time.Millisecond)))
				log.add("%v pass", d)
				time.Sleep(d)
			}
			log.equal(want.NumRequeues(name), l.NumRequeues(name), "NumRequeues")
		}
	}
}
