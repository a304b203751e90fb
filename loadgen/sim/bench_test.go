package sim

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/randvar"
)

// busy is a controller like the built-in ones on a large cluster, to simulate for
// a time: 1,000 events/s on 150,000 pods, five workers at a utilisation of about
// 0.8, a few failures.
func busy(d time.Duration) *loadgen.Spec {
	dist := func(text string) randvar.Dist {
		parsed, err := randvar.Parse(text)
		if err != nil {
			panic(err)
		}
		return parsed
	}
	return &loadgen.Spec{
		Name: "busy", Seed: 1, Duration: d,
		Resources: []loadgen.Resource{{Count: 150_000, Events: loadgen.Events{
			Mix: loadgen.Mix{Update: 1}, Arrivals: loadgen.Arrivals{Rate: 1000}}}},
		Reconcile: loadgen.Reconcile{Workers: 5, Service: dist("lognormal(3ms, 12ms)"), Failure: 0.001},
	}
}

// One operation is one event from its arrival to the end of its reconcile.
func BenchmarkRun(b *testing.B) {
	for _, bb := range []struct {
		name   string
		change func(*loadgen.Spec)
	}{
		{"reconcile=plain", func(*loadgen.Spec) {}},
		{"reconcile=calls", func(s *loadgen.Spec) {
			s.Reconcile.Calls, s.Reconcile.CallLatency = s.Reconcile.Service, s.Reconcile.Service
			_ = s.Reconcile.Calls.UnmarshalText([]byte("2"))
			_ = s.Reconcile.Service.UnmarshalText([]byte("500us"))
			_ = s.Reconcile.CallLatency.UnmarshalText([]byte("exp(1500us)"))
			s.Reconcile.QPS, s.Reconcile.Burst = 2500, 5000
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			spec := busy(0)
			spec.Resources[0].Events.Count = max(1, b.N)
			bb.change(spec)
			b.ReportAllocs()
			r, err := Run(b.Context(), Config{Spec: spec})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(r.Arrivals)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(r.Utilisation, "utilisation")
		})
	}
}
