package election

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// A Memory is an API server with one lease: it keeps the record and its version,
// and refuses a write that does not name the last version. Its methods and those
// of its locks may be called from any goroutine.
type Memory struct {
	clock  clock.Clock
	inject func(Call) Fault

	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	version int
	calls   []Call
}

// A Call is a request of a candidate.
type Call struct {
	Identity string
	Verb     string // "get", "create", "update"
	At       time.Time
}

// A Fault is what happens to a call. The zero Fault is a call that is answered at
// once.
type Fault struct {
	Request  time.Duration // until the server sees the call
	Response time.Duration // from there until the caller has the answer
	Err      error         // the server answers this and does nothing
	Conflict bool          // somebody else's write comes first: a new version, the same record
	Lost     error         // the server does what is asked, but the caller gets this
	Deaf     bool          // the caller gets no answer before its time, even if its context ends
}

// NewMemory returns a server without a record. Inject is asked for the fault of
// each call and may be nil.
func NewMemory(c clock.Clock, inject func(Call) Fault) *Memory {
	if c == nil {
		panic("election.NewMemory: clock is nil, expected one, such as clock.RealClock{}")
	}
	if inject == nil {
		inject = func(Call) Fault { return Fault{} }
	}
	return &Memory{clock: c, inject: inject}
}

// Lock returns the lock through which the candidate of that identity reaches the
// server.
func (m *Memory) Lock(identity string) resourcelock.Interface {
	return &memoryLock{memory: m, identity: identity}
}

// Record returns the record, and false if there is none.
func (m *Memory) Record() (resourcelock.LeaderElectionRecord, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.record == nil {
		return resourcelock.LeaderElectionRecord{}, false
	}
	return *m.record, true
}

// SetRecord writes the record as a client would that is no candidate.
func (m *Memory) SetRecord(record resourcelock.LeaderElectionRecord) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.store(record)
}

// Calls returns all calls so far, in the order in which they were made.
func (m *Memory) Calls() []Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Call(nil), m.calls...)
}

func (m *Memory) store(record resourcelock.LeaderElectionRecord) {
	m.record = &record
	m.version++
}

type memoryLock struct {
	memory   *Memory
	identity string
	version  int // guarded by memory.mu
}

var _ resourcelock.Interface = (*memoryLock)(nil)

var (
	leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	errOld = errors.New("the lease has been modified, expected the latest version")
)

func (l *memoryLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	var record resourcelock.LeaderElectionRecord
	var raw []byte
	err := l.call(ctx, "get", func() (err error) {
		if l.memory.record == nil {
			return apierrors.NewNotFound(leases, "memory")
		}
		record, l.version = *l.memory.record, l.memory.version
		raw, err = json.Marshal(record)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return &record, raw, nil
}

func (l *memoryLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.call(ctx, "create", func() error {
		if l.memory.record != nil {
			return apierrors.NewAlreadyExists(leases, "memory")
		}
		l.memory.store(record)
		return nil
	})
}

func (l *memoryLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.call(ctx, "update", func() error {
		if l.version == 0 {
			return errors.New("update of a lease that was neither read nor created")
		}
		if l.version != l.memory.version {
			return apierrors.NewConflict(leases, "memory", errOld)
		}
		l.memory.store(record)
		return nil
	})
}

// call takes apply to the server and its answer back. A caller whose answer is
// lost does not learn the new version.
func (l *memoryLock) call(ctx context.Context, verb string, apply func() error) error {
	m := l.memory
	c := Call{Identity: l.identity, Verb: verb, At: m.clock.Now()}
	m.mu.Lock()
	m.calls = append(m.calls, c)
	m.mu.Unlock()
	f := m.inject(c)
	if f.Deaf {
		ctx = context.WithoutCancel(ctx)
	}
	if err := m.sleep(ctx, f.Request); err != nil {
		return err
	}

	m.mu.Lock()
	known := l.version
	if f.Conflict && m.record != nil {
		m.version++
	}
	err := f.Err
	if err == nil {
		err = apply()
	}
	if err == nil && verb != "get" {
		l.version = m.version
	}
	m.mu.Unlock()

	away := m.sleep(ctx, f.Response)
	if away == nil {
		away = f.Lost
	}
	if away != nil {
		m.mu.Lock()
		l.version = known
		m.mu.Unlock()
		return away
	}
	return err
}

func (m *Memory) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := m.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *memoryLock) RecordEvent(string) {}
func (l *memoryLock) Identity() string   { return l.identity }
func (l *memoryLock) Describe() string   { return "memory" }
