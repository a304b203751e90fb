package bench

import (
	"context"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl"
	"github.com/informerbench/informerbench/impl/election"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// How long elections take in time is not a matter of the processor: benchrun
// benchrun election simulates it. These cases are about what they cost.
func electorCases() []Case {
	type variant = impl.Variant[impl.NewElector]
	c := component[impl.NewElector]{"elector", "client-go", impl.Electors()}
	return c.cases(question[impl.NewElector]{
		name: "op=term", unit: cpuTime, quick: true, null: newNullElector,
		summary: "a candidate takes the lease on a lock in memory, leads, ends and gives it back",
		run:     func(b *testing.B, v variant) { terms(b, v.New) },
	})
}

func terms(b *testing.B, newElector impl.NewElector) {
	ctx := klog.NewContext(context.Background(), klog.Logger{})
	const batch = 100 // terms of a server, which remembers every call
	wrong := 0
	measured(b, batch, false, func() {
		server := election.NewMemory(clock.RealClock{}, nil)
		for range batch {
			if err := serveTerm(ctx, newElector, server.Lock("candidate")); err != nil {
				b.Fatal(err)
			}
		}
		if record, ok := server.Record(); !ok || record.HolderIdentity != "" {
			wrong++
		}
	})
	if wrong > 0 {
		b.Fatalf("%d leases were not given back", wrong)
	}
}

// serveTerm returns when the candidate led and gave the lease back.
func serveTerm(ctx context.Context, newElector impl.NewElector, lock resourcelock.Interface) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := make(chan struct{})
	e, err := newElector(leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				close(began)
				cancel()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	e.Run(ctx)
	<-began
	return nil
}
