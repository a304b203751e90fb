package election

import (
	"bytes"
	"context"
	"math"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// An outcome is what one attempt to acquire or renew came to.
type outcome int

const (
	failed outcome = iota // try again
	held                  // the record is ours, from the start of the attempt
	lost                  // it was ours and is not any more
)

// A reading is what tells one reading of the record from the next.
type reading struct {
	raw     []byte
	renewed metav1.Time // finer than the whole seconds that raw keeps
}

// acquireOrRenew makes at most one successful write.
func (e *LeaderElector) acquireOrRenew(ctx context.Context) outcome {
	now := e.clock.Now()
	old, observed, leading := e.state()
	ours := e.newRecord(now)

	// The leader knows the version that it wrote last: one call does.
	if old.HolderIdentity == e.identity && now.Before(expiry(old, observed)) {
		ours = inherit(ours, old)
		err := e.write(ctx, ours)
		if err == nil {
			return held
		}
		klog.FromContext(ctx).V(2).Info("Failed to update lease optimistically, falling back to slow path", "lock", e.lock, "err", err)
	}

	record, err := e.get(ctx)
	if apierrors.IsNotFound(err) {
		if err := e.create(ctx, ours); err != nil {
			klog.FromContext(ctx).Error(err, "Error initially creating lease lock", "lock", e.lock)
			return failed
		}
		return held
	}
	if err != nil {
		return failed
	}
	old, observed, _ = e.state()
	switch {
	case record.HolderIdentity == e.identity:
		ours = inherit(ours, *record)
		e.metric.SlowpathExercised(e.config.Name)
	case leading && record.HolderIdentity != "":
		return lost
	case record.HolderIdentity != "" && now.Before(expiry(old, observed)):
		return failed
	default:
		if !leading { // else it takes back what somebody emptied
			ours.AcquireTime = ours.RenewTime
		}
		ours.LeaderTransitions = record.LeaderTransitions + 1
	}
	return e.replace(ctx, ours)
}

// renewCoordinated renews a lease that the cluster's coordinator gave to this
// candidate; it neither creates nor takes one.
func (e *LeaderElector) renewCoordinated(ctx context.Context) outcome {
	now := e.clock.Now()
	record, err := e.get(ctx)
	if err != nil {
		return failed
	}
	old, observed, leading := e.state()
	if record.HolderIdentity != e.identity || record.PreferredHolder != "" {
		if leading {
			return lost // to another holder, or at the end of the term
		}
		return failed
	}
	if !now.Before(expiry(old, observed)) {
		return failed
	}
	ours := inherit(e.newRecord(now), *record)
	ours.Strategy = record.Strategy
	e.metric.SlowpathExercised(e.config.Name)
	return e.replace(ctx, ours)
}

// replace writes a record over the one that was read.
func (e *LeaderElector) replace(ctx context.Context, record resourcelock.LeaderElectionRecord) outcome {
	if err := e.write(ctx, record); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to update lease", "lock", e.lock)
		return failed
	}
	return held
}

// release gives the lease back if the record still names this candidate. It tries
// again on conflicts.
func (e *LeaderElector) release(ctx context.Context) outcome {
	for {
		record, err := e.get(ctx)
		if err != nil || record.HolderIdentity != e.identity {
			return lost
		}
		now := metav1.NewTime(e.clock.Now())
		// Candidates of before Kubernetes 1.14 wait for an unheld lease too.
		unheld := resourcelock.LeaderElectionRecord{
			LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now, LeaderTransitions: record.LeaderTransitions,
		}
		err = e.write(ctx, unheld)
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			klog.FromContext(ctx).Error(err, "Failed to release lease", "lock", e.lock)
		}
		return lost
	}
}

func (e *LeaderElector) get(ctx context.Context) (*resourcelock.LeaderElectionRecord, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	record, raw, err := e.config.Lock.Get(ctx)
	if err != nil {
		if !apierrors.IsNotFound(err) {
			klog.FromContext(ctx).Error(err, "Error retrieving lease lock", "lock", e.lock)
		}
		return nil, err
	}
	if e.read.raw == nil || !bytes.Equal(raw, e.read.raw) || !record.RenewTime.Equal(&e.read.renewed) {
		e.read = reading{raw: append([]byte{}, raw...), renewed: record.RenewTime}
		e.observe(*record)
	}
	return record, nil
}

func (e *LeaderElector) write(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	if err := e.config.Lock.Update(ctx, record); err != nil {
		return err
	}
	e.observe(record)
	return nil
}

func (e *LeaderElector) create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	if err := e.config.Lock.Create(ctx, record); err != nil {
		return err
	}
	e.observe(record)
	return nil
}

// observe notes a change of the record, now by the local clock.
func (e *LeaderElector) observe(record resourcelock.LeaderElectionRecord) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.record, e.observed = record, e.clock.Now()
}

func (e *LeaderElector) state() (record resourcelock.LeaderElectionRecord, observed time.Time, leads bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record, e.observed, e.phase == leading
}

func (e *LeaderElector) newRecord(now time.Time) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{
		HolderIdentity: e.identity,
		// Rounded up: with less the others would not wait for the renew deadline.
		LeaseDurationSeconds: int(min((e.config.LeaseDuration-1)/time.Second+1, longest)),
		AcquireTime:          metav1.NewTime(now),
		RenewTime:            metav1.NewTime(now),
	}
}

// inherit keeps what a renewal does not change.
func inherit(ours, old resourcelock.LeaderElectionRecord) resourcelock.LeaderElectionRecord {
	ours.AcquireTime, ours.LeaderTransitions = old.AcquireTime, old.LeaderTransitions
	return ours
}

// longest is the seconds of the longest lease there is, for a Lease keeps them in 32
// bits: 68 years.
const longest = math.MaxInt32

// expiry returns when the lease of a record that was last seen to change at
// observed ends for those who do not hold it.
func expiry(record resourcelock.LeaderElectionRecord, observed time.Time) time.Time {
	return observed.Add(time.Duration(min(record.LeaseDurationSeconds, longest)) * time.Second)
}
