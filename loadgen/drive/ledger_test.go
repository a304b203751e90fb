package drive

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A testLedger has one object and a clock that its test moves.
type testLedger struct {
	*ledger
	clock  time.Duration
	object name
	m      *meter
}

func newTestLedger() *testLedger {
	l := &testLedger{object: name{&resource{name: "pods"}, "ns", "a"}, m: new(meters).add("test")}
	l.ledger = newLedger(func() time.Duration { return l.clock }, 0)
	return l
}

func at(rv int) version { return version{rv: strconv.Itoa(rv)} }

func (l *testLedger) sends(versions ...version) {
	for _, v := range versions {
		l.send(l.object, v, l.clock)
	}
}

// reconciles is one reconcile that finds v.
func (l *testLedger) reconciles(v version, result outcome) {
	upTo, _ := l.take(l.object, v, l.clock, l.m)
	l.end(l.object, upTo, result, l.m, l.m)
}

func (l *testLedger) closes() Accounting {
	var a Accounting
	l.balance(&a)
	return a
}

func TestLedger(t *testing.T) {
	deleted := func(rv int) version { return version{rv: strconv.Itoa(rv), gone: true} }
	for name, test := range map[string]struct {
		run  func(l *testLedger)
		want Accounting
	}{
		"an overtaken event is coalesced": {func(l *testLedger) {
			l.sends(at(2), at(3))
			l.reconciles(at(3), settled)
		}, Accounting{Sent: 2, Delivered: 1, Coalesced: 1}},
		"an event that nobody sees is lost": {func(l *testLedger) {
			l.sends(at(2), at(3))
			l.reconciles(at(2), settled)
		}, Accounting{Sent: 2, Delivered: 1, Lost: 1, Stale: 1}},
		"a retry sees the same state and settles it": {func(l *testLedger) {
			l.sends(at(2))
			l.reconciles(at(2), retried)
			l.reconciles(at(2), settled)
		}, Accounting{Sent: 1, Delivered: 1}},
		"what only failed is not settled": {func(l *testLedger) {
			l.sends(at(2))
			l.reconciles(at(2), retried)
		}, Accounting{Sent: 1, Delivered: 1, Unsettled: 1}},
		"an absent object shows its deletion": {func(l *testLedger) {
			l.sends(at(2), deleted(3))
			l.reconciles(gone, settled)
		}, Accounting{Sent: 2, Delivered: 1, Coalesced: 1}},
		"an object that comes again is not the one deleted": {func(l *testLedger) {
			l.sends(at(2), deleted(3), at(4))
			l.reconciles(gone, settled)
			l.reconciles(at(4), settled)
		}, Accounting{Sent: 3, Delivered: 2, Coalesced: 1}},
		"an object that comes and goes unseen leaves nothing to see": {func(l *testLedger) {
			l.initial(l.object, "1")
			l.sends(deleted(2))
			l.reconciles(gone, settled)
			l.sends(at(3), deleted(4))
		}, Accounting{Sent: 3, Delivered: 1, Coalesced: 2}},
		"a step back": {func(l *testLedger) {
			l.sends(at(2))
			l.reconciles(at(2), settled)
			l.sends(at(3))
			l.reconciles(at(3), settled)
			l.reconciles(at(2), settled)
		}, Accounting{Sent: 2, Delivered: 2, Backwards: 1}},
		"a state after the deletion": {func(l *testLedger) {
			l.sends(at(2), deleted(3))
			l.reconciles(gone, settled)
			l.reconciles(at(2), settled)
		}, Accounting{Sent: 2, Delivered: 1, Coalesced: 1, Backwards: 1}},
		"two workers": {func(l *testLedger) {
			l.sends(at(2))
			l.take(l.object, at(2), 0, l.m)
			l.reconciles(at(2), settled)
		}, Accounting{Sent: 1, Delivered: 1, Together: 1}},
		"a version that a recording repeats": {func(l *testLedger) {
			l.sends(at(2), at(2))
			l.reconciles(at(2), settled)
			l.sends(at(2))
			l.reconciles(at(2), settled)
		}, Accounting{Sent: 3, Delivered: 2, Coalesced: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestLedger()
			test.run(l)
			got := l.closes()
			got.Bad = nil
			assert.Equal(t, test.want, got)
		})
	}
}

func TestStaleness(t *testing.T) {
	l := newTestLedger()
	l.initial(l.object, "1")
	assert.Zero(t, l.staleness(l.object, at(1)))
	l.clock = time.Second
	l.sends(at(2))
	l.clock = 3 * time.Second
	l.sends(at(3))
	l.clock = 4 * time.Second
	assert.Equal(t, 3*time.Second, l.staleness(l.object, at(1)), "since the first change that it does not show")
	assert.Equal(t, time.Second, l.staleness(l.object, at(2)))
	assert.Zero(t, l.staleness(l.object, at(3)))
	l.reconciles(at(3), settled)
	assert.Zero(t, l.staleness(l.object, at(3)))
}

// Whatever a worker finds among what was sent, the account balances, each event
// comes to each stage once, and nothing is kept of what is settled.
func TestLedgerBalances(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		l := newTestLedger()
		var sent []version
		seenUpTo, wire := -1, new(meters).add(Watch)
		for rv := range 40 {
			v := version{rv: strconv.Itoa(rv + 1), gone: r.IntN(5) == 0 && len(sent) > 0 && !sent[len(sent)-1].gone}
			sent = append(sent, v)
			l.sends(v)
			l.clock += time.Millisecond
			l.mark(l.object, version{rv: v.rv}, watched, wire)
			if r.IntN(2) == 0 {
				continue
			}
			found := seenUpTo + 1 + r.IntN(len(sent)-seenUpTo-1)
			state := sent[found]
			if state.gone {
				// The cache shows the newest deletion.
				for i := found; i < len(sent); i++ {
					if sent[i].gone {
						found = i
					}
				}
				state = gone
			}
			seenUpTo = found
			l.reconciles(state, outcome(r.IntN(2)))
		}
		last := sent[len(sent)-1]
		if last.gone {
			last = gone
		}
		l.reconciles(last, settled)
		a := l.closes()
		require.True(t, a.Sound(), "seed %d: %+v", seed, a)
		require.Equal(t, 40, a.Sent, "seed %d", seed)
		require.EqualValues(t, 40, wire.total.Count(), "seed %d", seed)
		require.Zero(t, l.open.Load(), "seed %d", seed)
	}
}

func BenchmarkLedger(b *testing.B) {
	l := newTestLedger()
	rv := 1
	b.ReportAllocs()
	for b.Loop() {
		rv++
		v := version{rv: strconv.Itoa(rv)}
		l.sends(v)
		for s := watched; s < seen; s++ {
			l.mark(l.object, v, s, l.m)
		}
		l.reconciles(v, settled)
	}
}
