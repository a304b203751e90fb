package election

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// A gauge is the program's metric: what it was told of each name, without what it
// was told twice in a row. It asks that name's elector back.
type gauge struct {
	mu       sync.Mutex
	told     map[string][]string
	electors map[string]Elector
}

func (g *gauge) NewLeaderMetric() leaderelection.LeaderMetric { return g }

func (g *gauge) On(name string)                { g.tell(name, "on") }
func (g *gauge) Off(name string)               { g.tell(name, "off") }
func (g *gauge) SlowpathExercised(name string) { g.tell(name, "slow path") }

func (g *gauge) tell(name, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told[name] = slices.Compact(append(g.told[name], what))
	if e := g.electors[name]; e != nil {
		e.IsLeader()
		e.GetLeader()
	}
}

func (g *gauge) ask(name string, e Elector) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.electors[name] = e
}

var program = &gauge{told: map[string][]string{}, electors: map[string]Elector{}}

func init() { leaderelection.SetProvider(program) }

// However a term ends, the metric says that nobody leads. So it does with client-go's
// elector, but for one that is cancelled between two renewals.
func TestMetrics(t *testing.T) {
	const calm = 5 * time.Second // no call is under way then
	term := []string{"off", "on", "off"}
	for name, test := range map[string]struct {
		fault       func(Call) Fault // from calm on
		coordinated bool
		other       bool // another holds the lease
		want        []string
	}{
		"cancelled": {want: term},
		"refused":   {fault: func(Call) Fault { return Fault{Err: errors.New("refused")} }, want: term},
		"hangs":     {fault: func(Call) Fault { return Fault{Request: time.Hour} }, want: term},
		"conflict": {fault: func(c Call) Fault { return Fault{Conflict: c.At.Second() == 6} },
			want: []string{"off", "on", "slow path", "off"}},
		"coordinated": {coordinated: true, want: []string{"off", "slow path", "on", "slow path", "off"}},
		"never led":   {other: true, want: []string{"off"}},
	} {
		for elector, new := range map[string]func(leaderelection.LeaderElectionConfig) (Elector, error){
			"client-go": electors["client-go"],
			"deadline": func(c leaderelection.LeaderElectionConfig) (Elector, error) {
				return NewWithOptions(c, Options{Metrics: program})
			},
		} {
			t.Run(name+"/"+elector, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begin := time.Now()
					server := NewMemory(clock.RealClock{}, func(c Call) Fault {
						if test.fault != nil && time.Since(begin) > calm {
							return test.fault(c)
						}
						return Fault{}
					})
					switch record := (resourcelock.LeaderElectionRecord{HolderIdentity: "other", LeaseDurationSeconds: 3600}); {
					case test.coordinated:
						record.HolderIdentity = "a"
						fallthrough
					case test.other:
						server.SetRecord(record)
					}
					e, err := new(leaderelection.LeaderElectionConfig{
						Name: t.Name(), Coordinated: test.coordinated,
						Lock: server.Lock("a"), LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
						Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
					})
					require.NoError(t, err)
					program.ask(t.Name(), e)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					e.Run(ctx)
					told := program.told[t.Name()]
					if cancelled := ctx.Err() != nil; elector == "client-go" && cancelled && told[len(told)-1] != "off" {
						told = append(told, "off")
					}
					assert.Equal(t, test.want, told)
				})
			})
		}
	}
}
