package predict

import (
	"math"
	"testing"

	"github.com/informerbench/informerbench/bench/tune/infer"
	"github.com/informerbench/informerbench/bench/tune/model"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seed is of what the tests simulate.
const seed = 1

// offering is a model of exponential work of 50 ms, at random, that keeps so many workers
// busy; of its members each may have another load than that.
func offering(load float64, members int, change func(i int, s *model.System)) *Model {
	const work = 0.05
	m := &Model{
		Observations: 5000, Dispersion: 1, ArrivalRate: load / work, AddRate: load / work, Offered: load,
		Work: work, Busy: work, Service: work, Interval: 5000 * work / load, Queues: MeasuredQueues,
		Spec: &loadgen.Spec{}, Posterior: &infer.Posterior{},
	}
	for i := range members {
		s := model.System{Rate: m.ArrivalRate, Service: model.NewWork(randvar.Exponential(work))}
		if change != nil {
			change(i, &s)
		}
		m.Posterior.Members = append(m.Posterior.Members, infer.Member{System: s, Family: "arrivals at random"})
	}
	return m
}

// staff are the usual settings with so many workers and no limit.
func staff(workers int) Settings {
	s := Defaults()
	s.Workers, s.QPS, s.Burst = workers, 0, 0
	return s
}

// Of one worker the waits are known by a formula, which the middle of the members has and
// which the interval holds; members that differ make it as wide as they do.
func TestPredictionsAreOfTheMembers(t *testing.T) {
	const load = 0.7
	p99 := func(load float64) float64 { return 0.05 / (1 - load) * math.Log(100*load) }
	alike, err := offering(load, 96, nil).Predict(t.Context(), staff(1), Finest, seed)
	require.NoError(t, err)
	require.True(t, alike.Stable)
	x := alike.Wait.P99
	assert.InEpsilon(t, p99(load), x.Mean, 0.05)
	assert.True(t, x.Low < p99(load) && p99(load) < x.High)
	assert.Less(t, x.High/x.Low, 1.5)
	assert.InEpsilon(t, load, alike.Utilisation.Mean, 0.02)
	assert.InEpsilon(t, 0.05, alike.Work.Mean.Mean, 0.02)
	assert.InEpsilon(t, alike.Wait.Mean.Mean*load/0.05, alike.Depth.Mean, 0.05, "by Little's law")
	assert.Equal(t, x.Mean, alike.Wait.At(0.99))
	assert.Equal(t, alike.Wait.Mean.Mean, alike.Wait.At(-1))

	apart, err := offering(load, 96, func(i int, s *model.System) { s.Rate *= 0.9 + 0.2*float64(i)/95 }).Predict(t.Context(), staff(1), Finest, seed)
	require.NoError(t, err)
	x = apart.Wait.P99
	assert.InEpsilon(t, p99(load), x.Mean, 0.06)
	assert.InEpsilon(t, p99(0.9*load), x.Low, 0.12)
	assert.InEpsilon(t, p99(1.1*load), x.High, 0.15)
}

// Between loads that are far apart nothing is true: predicted is what most do, and the
// interval holds what a few do.
func TestMostMembersDecide(t *testing.T) {
	alone, err := offering(0.7, 48, nil).Predict(t.Context(), staff(1), Finest, seed)
	require.NoError(t, err)
	f, err := offering(0.7, 48, func(i int, s *model.System) {
		if i%4 == 0 {
			s.Rate /= 10
		}
	}).Predict(t.Context(), staff(1), Finest, seed)
	require.NoError(t, err)
	assert.InEpsilon(t, alone.Wait.P99.Mean, f.Wait.P99.Mean, 0.15)
	assert.Less(t, f.Wait.P99.Low, 0.5*alone.Wait.P99.Mean)
}

// What a part of the members can't be carried with has no bound, and a worker is never
// busier than all the time.
func TestMembersThatAreTooMuch(t *testing.T) {
	some := func(every int) *Model {
		return offering(0.95, 48, func(i int, s *model.System) {
			if i%every == 0 {
				s.Rate *= 1.1
			}
		})
	}
	m := some(10)
	f, err := m.Predict(t.Context(), staff(1), Rough, seed)
	require.NoError(t, err)
	assert.True(t, f.Stable, "most can be carried")
	assert.Equal(t, Unbounded, f.Wait.P99.High)
	assert.Less(t, f.Wait.P99.Mean, Unbounded)
	assert.LessOrEqual(t, f.Utilisation.High, 1.0)
	assert.True(t, m.Full(staff(1)))
	assert.False(t, m.Full(staff(2)))

	f, err = some(1).Predict(t.Context(), staff(1), Rough, seed)
	require.NoError(t, err)
	assert.False(t, f.Stable)
	assert.LessOrEqual(t, f.Utilisation.Mean, 1.0)
}

// Keys bound the queue, if all members have them and can be simulated until all wait. A model
// that nothing explains yet is bounded by nothing.
func TestToldKeysBoundTheQueue(t *testing.T) {
	for keys, bounded := range map[int]bool{0: false, 20: true, 30_000: true, 100_000: true, 100_001: false} {
		m := offering(2, 4, func(_ int, s *model.System) { s.Keys = keys })
		assert.Equal(t, bounded, m.Bounded(), keys)
		m.Posterior.Members[2].System.Keys = 0
		assert.False(t, m.Bounded(), "one that has many is enough")
	}
	assert.False(t, (&Model{}).Bounded())
	assert.False(t, (&Model{}).Full(staff(1)))
}

// A key that waits is not added again, so what changes while it waits makes no calls: that
// more changes than the limit lets through is no overload.
func TestKeysThatWaitMakeNoCalls(t *testing.T) {
	m := offering(1.5, 8, func(_ int, s *model.System) {
		s.Rate, s.Keys, s.Calls, s.Latency = 80, 20, []float64{0, 1}, 0.001
	})
	m.Calls, m.CallLatency = 1, 0.001
	x := staff(2)
	x.QPS, x.Burst = 45, 45 // what two workers can call is 40 a second
	f, err := m.Predict(t.Context(), x, Rough, seed)
	require.NoError(t, err)
	assert.True(t, f.Stable)
	assert.Less(t, f.CallRate.Mean, 42.0)
	assert.Less(t, f.Wait.P99.High, 2.0, "twenty keys are worked off in half a second")
}
