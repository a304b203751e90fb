package election_test

import (
	"context"
	"fmt"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"
)

// A controller that needs a moment to end its work keeps its lease for as long, so that
// the next one never works beside it; and a request that hangs is given up and made
// again before the lease is lost.
func ExampleNewWithOptions() {
	lock := election.NewMemory(clock.RealClock{}, nil).Lock("controller-0") // in a cluster: resourcelock.New
	ctx, stop := context.WithCancel(context.Background())
	elector, err := election.NewWithOptions(leaderelection.LeaderElectionConfig{
		Name: "controller", Lock: lock,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { // controller-runtime: manager.Start(ctx)
				fmt.Println("started")
				stop() // as SIGTERM would
				<-ctx.Done()
				fmt.Println("the last objects are written, the lease is still ours")
			},
			OnStoppedLeading: func() { fmt.Println("stopped") },
		},
	}, election.Options{WaitForWork: 30 * time.Second, CallTimeout: 4 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	elector.Run(ctx)
	// Output:
	// started
	// the last objects are written, the lease is still ours
	// stopped
}
