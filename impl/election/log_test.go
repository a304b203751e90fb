package election

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/utils/clock"
)

var electors = map[string]func(leaderelection.LeaderElectionConfig) (Elector, error){
	"client-go": func(c leaderelection.LeaderElectionConfig) (Elector, error) {
		return leaderelection.NewLeaderElector(c)
	},
	"deadline": func(c leaderelection.LeaderElectionConfig) (Elector, error) { return New(c) },
}

// Whoever looks into the log for why nobody leads finds what client-go's elector
// says, without more verbosity: an API that refuses everything, for one.
func TestLog(t *testing.T) {
	refused := errors.New("leases is forbidden")
	begin := 10 * time.Second
	for name, elector := range electors {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				server := NewMemory(clock.RealClock{}, func(Call) Fault {
					if at := time.Since(started); at < begin || at > 2*begin {
						return Fault{Err: refused}
					}
					return Fault{}
				})
				// The renew deadline is no multiple of the retry period: where a retry and the
				// deadline fall together either may come first.
				logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(0)))
				e, err := elector(leaderelection.LeaderElectionConfig{
					Lock: server.Lock("a"), LeaseDuration: 15 * time.Second, RenewDeadline: 9 * time.Second, RetryPeriod: 2 * time.Second,
					Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
				})
				require.NoError(t, err)
				e.Run(klog.NewContext(t.Context(), logger))
				var steps []string
				for _, entry := range logger.GetSink().(ktesting.Underlier).GetBuffer().Data() {
					step := entry.Message
					if entry.Err != nil {
						step = fmt.Sprintf("%s: %v", step, entry.Err)
					}
					if !slices.Contains(steps, step) {
						steps = append(steps, step)
					}
				}
				assert.Equal(t, []string{
					"Attempting to acquire leader lease...",
					"Error retrieving lease lock: leases is forbidden",
					"Successfully acquired lease",
					"Failed to renew lease",
				}, steps)
			})
		})
	}
}
