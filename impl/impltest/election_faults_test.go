package impltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/informerbench/informerbench/impl/election"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// electionFaults are faults and the clauses that they break.
var electionFaults = map[string][]string{
	"version-ignored":      {"optimistic-conflict"},
	"renews-twice":         {"renew-in-one-call"},
	"transitions-kept":     {"transitions"},
	"acquire-time-renewed": {"acquire-time-kept"},
	"record-times":         {"takeover-after-expiry-observed-locally"},
	"any-parameters":       {"parameters-refused"},
	"no-release":           {"release-lets-next-in-quickly"},
	"always-releases":      {"no-release-unless-asked"},
	"releases-blindly":     {"release-only-if-holder"},
	"work-not-cancelled":   {"started-in-own-goroutine-and-cancelled"},
	"stopped-only-if-led":  {"stopped-always-runs"},
	"leader-told-twice":    {"new-leader-callback"},
	"check-silent":         {"check"},
	"goroutine-left":       {"no-goroutine-leak"},
	"gives-up-early":       {"lost-on-renew-deadline"},
	"deadline-after-lease": {"lost-on-renew-deadline"},
	"no-deadline":          {"never-two-leaders", "lost-on-renew-deadline"},
	"leader-for-ever":      {"is-leader-ends"},
	"seconds-truncated":    {"sub-second-lease"},
	"uncoordinated":        {"coordinated-takes-nothing"},
	"new-acquire-time":     {"coordinated-renews-what-it-is-given"},
	"term-without-end":     {"coordinated-ends-its-term"},
	"leader-unknown":       {"first-leader"},
	"tires":                {"renew"},
	"releases-once":        {"release-retries-conflict"},
	"told-inline":          {"new-leader-holds-up-nobody"},
	"errors-counted":       {"differential"},
}

// A faultyElector has one fault.
type faultyElector struct {
	election.Elector
	fault    string
	name     string
	releases bool
	lock     resourcelock.Interface
}

func newFaultyElector(fault string) newElector {
	return func(c leaderelection.LeaderElectionConfig) (election.Elector, error) {
		led, calls := false, make(chan struct{}, 1)
		started, stopped, told := c.Callbacks.OnStartedLeading, c.Callbacks.OnStoppedLeading, c.Callbacks.OnNewLeader
		switch fault {
		case "any-parameters":
			if c.LeaseDuration <= c.RenewDeadline {
				c.LeaseDuration, c.RenewDeadline, c.RetryPeriod = leaseDuration, renewDeadline, retryPeriod
			}
		case "uncoordinated":
			c.Coordinated = false
		case "no-release":
			c.ReleaseOnCancel = false
		case "always-releases":
			c.ReleaseOnCancel = true
		case "work-not-cancelled":
			if started == nil {
				break
			}
			c.Callbacks.OnStartedLeading = func(ctx context.Context) { started(context.WithoutCancel(ctx)) }
		case "stopped-only-if-led":
			if stopped == nil || started == nil {
				break
			}
			c.Callbacks.OnStartedLeading = func(ctx context.Context) { led = true; started(ctx) }
			c.Callbacks.OnStoppedLeading = func() {
				if led {
					stopped()
				}
			}
		case "told-inline":
			if told == nil {
				break
			}
			c.Callbacks.OnNewLeader = func(leader string) {
				calls <- struct{}{}
				defer func() { <-calls }()
				told(leader)
			}
		case "leader-told-twice":
			c.Callbacks.OnNewLeader = func(leader string) { told(leader); told(leader) }
		}
		if c.RenewDeadline == renewDeadline && c.LeaseDuration == leaseDuration && c.RetryPeriod == retryPeriod {
			switch fault {
			case "gives-up-early":
				c.RenewDeadline = 2 * retryPeriod
			case "deadline-after-lease", "no-deadline":
				c.LeaseDuration, c.RenewDeadline = 2*time.Hour, time.Hour
			}
		}
		if c.Lock != nil && c.Lock.Identity() != "" {
			c.Lock = &faultyLock{Interface: c.Lock, fault: fault, lease: c.LeaseDuration, coordinated: c.Coordinated, calls: calls}
		}
		elector, err := election.New(c)
		if err != nil {
			return nil, err
		}
		return &faultyElector{Elector: elector, fault: fault, name: c.Name, releases: c.ReleaseOnCancel, lock: c.Lock}, nil
	}
}

func (e *faultyElector) Run(ctx context.Context) {
	if e.fault == "goroutine-left" {
		go func() { select {} }()
	}
	e.Elector.Run(ctx)
	if e.fault == "releases-blindly" && e.releases {
		if record, _, err := e.lock.Get(context.Background()); err == nil {
			record.HolderIdentity = ""
			_ = e.lock.Update(context.Background(), *record)
		}
	}
}

func (e *faultyElector) IsLeader() bool {
	return e.Elector.IsLeader() || e.fault == "leader-for-ever" && e.GetLeader() == e.name
}

func (e *faultyElector) GetLeader() string {
	if e.fault == "leader-unknown" && !e.IsLeader() {
		return ""
	}
	return e.Elector.GetLeader()
}

func (e *faultyElector) Check(d time.Duration) error {
	if e.fault == "check-silent" {
		return nil
	}
	return e.Elector.Check(d)
}

// A faultyLock makes an elector's records and calls wrong.
type faultyLock struct {
	resourcelock.Interface
	fault       string
	lease       time.Duration
	coordinated bool
	transitions int
	renewals    int
	released    bool
	errors      int
	calls       chan struct{} // a lock, as of faultyInformer
}

func (l *faultyLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.transitions = record.LeaderTransitions
		if l.fault == "record-times" && time.Since(record.RenewTime.Time) > leaseDuration {
			record.HolderIdentity = ""
		}
		if l.fault == "term-without-end" {
			record.PreferredHolder = ""
		}
	}
	return record, raw, err
}

func (l *faultyLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Interface.Create(ctx, l.spoil(record))
}

func (l *faultyLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	switch l.fault {
	case "version-ignored":
		if err := l.Interface.Update(ctx, record); !apierrors.IsConflict(err) {
			return err
		}
		if _, _, err := l.Interface.Get(ctx); err != nil {
			return err
		}
	case "renews-twice":
		if err := l.Interface.Update(ctx, record); err != nil {
			return err
		}
	case "transitions-kept":
		record.LeaderTransitions = l.transitions
	case "acquire-time-renewed", "new-acquire-time":
		if l.coordinated == (l.fault == "new-acquire-time") {
			record.AcquireTime = record.RenewTime
		}
	case "tires":
		if l.renewals++; l.renewals > 900 && record.HolderIdentity != "" { // half an hour
			return errors.New("tired")
		}
	case "releases-once":
		if record.HolderIdentity == "" && l.released {
			return errors.New("tried already")
		}
		l.released = record.HolderIdentity == ""
	case "told-inline":
		l.calls <- struct{}{}
		<-l.calls
	case "errors-counted":
		record.LeaderTransitions += l.errors
		err := l.Interface.Update(ctx, record)
		if err != nil && !apierrors.IsConflict(err) {
			l.errors++
		}
		return err
	}
	return l.Interface.Update(ctx, l.spoil(record))
}

func (l *faultyLock) spoil(record resourcelock.LeaderElectionRecord) resourcelock.LeaderElectionRecord {
	switch l.fault {
	case "deadline-after-lease", "no-deadline":
		record.LeaseDurationSeconds = int(leaseDuration / time.Second)
	case "seconds-truncated":
		record.LeaseDurationSeconds = int(l.lease / time.Second)
	}
	return record
}

func TestPlantedElectors(t *testing.T) {
	t.Parallel()
	planting[newElector]{clauses: electionClauses(), own: electionClauses(), new: newFaultyElector, faults: electionFaults,
		lacking: []string{ // client-go's elector breaks these, which the catalogue says and its test sees.
			"deadline-from-last-renewal", "lost-in-hung-call", "lost-to-another-holder", "late-answer-elects-nobody", "cancelled-before-release"},
	}.test(t)
}
