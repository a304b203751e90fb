package tune

import (
	"context"
	"errors"

	"github.com/informerbench/informerbench/bench/tune/advice"
	"github.com/informerbench/informerbench/bench/tune/defaults"
	"github.com/informerbench/informerbench/bench/tune/predict"
	"github.com/informerbench/informerbench/bench/tune/search"
	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/sim"
)

// Workload advises on a spec: its load, and the controller that it describes.
func Workload(ctx context.Context, spec *loadgen.Spec, o Options) (*advice.Result, error) {
	return synthetic(ctx, spec, nil, o)
}

// Recording advises on recorded arrivals, which take the place of the spec's
// events; each call of arrivals gives them from the begin. The spec's reconcile
// says what the controller does.
func Recording(ctx context.Context, arrivals func(seed uint64) sim.Arrivals, spec *loadgen.Spec, o Options) (*advice.Result, error) {
	return synthetic(ctx, spec, arrivals, o)
}

func synthetic(ctx context.Context, spec *loadgen.Spec, arrivals func(uint64) sim.Arrivals, o Options) (*advice.Result, error) {
	t := newTimer(&o)
	complete := spec
	var err error
	if arrivals == nil {
		if complete, err = spec.Complete(); err != nil {
			return nil, err
		}
	}
	if complete.Reconcile.Service.IsZero() && complete.Reconcile.Calls.IsZero() {
		return nil, errors.New("reconcile.service: missing, expected how long a reconcile takes: nothing else in a workload or recording tells it")
	}
	current := predict.Current{Settings: o.Current.Settings, Told: o.Current.Told}
	if current.Told == nil {
		current.Told = map[string]string{}
	}
	if arrivals == nil {
		defaults.Fill(&current, predict.SettingsOf(complete.Reconcile), defaults.OfWorkload)
	} else {
		base := predict.Defaults()
		base.Workers = max(1, spec.Reconcile.Workers) // nothing ran yet, so nothing is made up
		defaults.Fill(&current, base, "default of client-go")
	}
	if err := check(current, o); err != nil {
		return nil, err
	}
	m := predict.OfSpec(complete, arrivals, o.Queues)
	r := &advice.Result{Schema: advice.SchemaVersion, Flavour: string(defaults.ClientGo), Seed: o.Seed, Objectives: o.Objectives, Stopped: "complete"}
	a := advice.Advice{Queue: complete.Name, Current: current, Recommended: current.Settings, Model: m}
	part, cancel := t.part(ctx, 1)
	defer cancel()
	err = m.Measure(part, current.Settings, o.Seed)
	progress := t.tell(a.Queue)
	s := search.New(m, o.search(current, defaults.ClientGo, false, progress))
	if err == nil {
		err = recommend(part, &a, s, o, progress)
	} else {
		cutOff(&a, s)
	}
	if err != nil && !interrupted(err) {
		return nil, err
	}
	stopped(ctx, r, err)
	a.Explain(defaults.ClientGo)
	r.Queues = []advice.Advice{a}
	return r, nil
}
