package bench

import (
	"testing"

	"github.com/informerbench/informerbench/impl"
)

func limiterCases() []Case {
	type variant = impl.Variant[impl.NewRateLimiter[string]]
	type asked = question[impl.NewRateLimiter[string]]
	c := component[impl.NewRateLimiter[string]]{"rate-limiter", "client-go", impl.RateLimiters[string]()}
	return c.cases(
		asked{
			name: "op=when-forget/keys=one", summary: "one key fails and is forgotten, over and over", unit: cpuTime, null: newNullLimiter(1),
			run: func(b *testing.B, v variant) { whenForget(b, v, 1) },
		},
		asked{
			name: "op=when-forget/keys=10k", summary: "each of 10,000 keys fails once and is forgotten", unit: cpuTime, quick: true, null: newNullLimiter(10_000),
			run: func(b *testing.B, v variant) { whenForget(b, v, 10_000) },
		},
		asked{
			name: "op=when/keys=10k", summary: "10,000 keys fail in turn and nothing is forgotten", unit: cpuTime, null: newNullLimiter(10_000),
			run: func(b *testing.B, v variant) { when(b, v, 10_000) },
		},
	)
}

func whenForget(b *testing.B, v impl.Variant[impl.NewRateLimiter[string]], n int) {
	keys := stringKeys(n)
	l := v.New()
	const batch = 100
	next, wrong := 0, 0
	measured(b, batch, false, func() {
		for range batch {
			key := keys[next]
			if l.When(key) <= 0 {
				wrong++
			}
			l.Forget(key)
			if next++; next == n {
				next = 0
			}
		}
	})
	if left := l.NumRequeues(keys[0]); left != 0 || wrong > 0 {
		b.Fatalf("%d failures left after Forget, %d delays were not positive", left, wrong)
	}
}

func when(b *testing.B, v impl.Variant[impl.NewRateLimiter[string]], n int) {
	keys := stringKeys(n)
	before := liveHeap()
	l := v.New()
	for _, key := range keys {
		l.When(key)
	}
	live := liveSince(before)
	rounds := 1
	const batch = 100
	next := 0
	measured(b, batch, false, func() {
		for _, key := range keys[next : next+batch] {
			l.When(key)
		}
		if next += batch; next == n {
			next = 0
			rounds++
		}
	})
	want := rounds
	if next > 0 {
		want++
	}
	if got := l.NumRequeues(keys[0]); got != want {
		b.Fatalf("%d failures counted for the first key, expected %d", got, want)
	}
	b.ReportMetric(float64(live)/float64(n), "live-B/item")
}
