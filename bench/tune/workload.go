package tune

import (
	"context"
	"errors"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// Workload advises on a spec: its load, and the controller that it describes. Recorded arrivals, if
// there are any, take the place of the spec's events; each call gives them from the begin.
func Workload(ctx context.Context, spec *loadgen.Spec, arrivals func(seed uint64) sim.Arrivals, o Options) (*advice.Result, error) {
	t := begin(o, defaults.ClientGo)
	current, base, told := t.Current, predict.Defaults(), "default of client-go"
	if current.Told == nil {
		current.Told = map[string]string{}
	}
	if arrivals == nil {
		var err error
		if spec, err = spec.Complete(); err != nil {
			return nil, err
		}
		base, told = predict.SettingsOf(spec.Reconcile), defaults.OfWorkload
	} else {
		base.Workers = max(1, spec.Reconcile.Workers) // nothing ran yet, so nothing is made up
	}
	if spec.Reconcile.Service.IsZero() && spec.Reconcile.Calls.IsZero() {
		return nil, errors.New("reconcile.service: missing, expected how long a reconcile takes: nothing else in a workload or recording tells it")
	}
	defaults.Fill(&current, base, told)
	if err := check(current, t.Options); err != nil {
		return nil, err
	}
	a := advice.Advice{Queue: spec.Name, Current: current, Recommended: current.Settings, Model: predict.OfSpec(spec, arrivals, t.Queues)}
	part, cancel := t.part(ctx, 1)
	defer cancel()
	err := t.finish(part, &a, false, a.Model.Measure(part, current.Settings, t.Seed))
	if err != nil && !interrupted(err) {
		return nil, err
	}
	t.stopped(ctx, err)
	t.result.Queues = []advice.Advice{a}
	return t.result, nil
}
