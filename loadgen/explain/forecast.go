package explain

import (
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/loadgen"
)

// forecast works out the events of resource i, and how long they go on.
func forecast(spec *loadgen.Spec, i int) (Resource, time.Duration) {
	r := &spec.Resources[i]
	it := Resource{Name: r.Name, Kind: r.Kind, Pattern: r.Events.Pattern, Population: r.Count, End: float64(r.Count)}
	var length time.Duration
	switch r.Events.Pattern {
	case "none", "follow":
		return it, 0
	case "lifecycle":
		length = it.lives(spec, r)
	default:
		var count float64
		count, length = arrivals(spec, r)
		it.Events = share(r, count)
		it.Events.Rate = perSecond(count, length)
		it.Events.Peak = r.Events.Arrivals.Peak()
	}
	it.End += it.Events.Added - it.Events.Deleted
	return it, length
}

// arrivals is the expected number of arrivals, and how long they take.
func arrivals(spec *loadgen.Spec, r *loadgen.Resource) (float64, time.Duration) {
	a, limit := r.Events.Arrivals, float64(r.Events.Count)
	if a.Rate == 0 && a.To == 0 {
		return limit, 0
	}
	if limit == 0 {
		return a.Expected(spec.Duration), spec.Duration
	}
	length := until(spec.Duration, func(t time.Duration) bool { return a.Expected(t) >= limit })
	return min(limit, a.Expected(length)), length
}

// until finds the first time, up to a deadline (0 for none), at which reached is true.
func until(deadline time.Duration, reached func(time.Duration) bool) time.Duration {
	if deadline == 0 {
		deadline = 10_000 * time.Hour
	}
	low, high := time.Duration(0), deadline
	for high-low > time.Millisecond {
		if middle := low + (high-low)/2; reached(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// share splits events by type. Where pods are replaced, those under way at the
// end have been added and not yet deleted: at each time Parallel groups, of
// whose pods some are half-way through their script.
func share(r *loadgen.Resource, count float64) Events {
	switch r.Events.Pattern {
	case "heartbeat":
		return Events{Modified: count}
	case "mix":
		m := r.Events.Mix
		all := m.Add + m.Update + m.Delete
		return Events{Added: count * m.Add / all, Modified: count * m.Update / all, Deleted: count * m.Delete / all}
	}
	steps, window, addStep := 7.0, float64((r.Replicas+3)/4), 1.0
	if r.Events.Pattern == "node-failure" {
		steps, window, addStep = 8, float64(r.Count)/float64(r.Nodes), 3
	}
	active := min(float64(r.Events.Parallel)*window, count/(steps/2))
	deleted := max(0, (count-active*steps/2)/steps)
	added := min(count, deleted+active*(1-addStep/(steps+1)))
	return Events{Added: added, Modified: count - added - deleted, Deleted: deleted}
}

// livesSampled is from how many lives the average one is worked out.
const livesSampled = 4000

// lives works out the events of a population that is born, lives and dies: an
// event that comes a while after the birth happens to those born by that while
// before the end.
func (it *Resource) lives(spec *loadgen.Spec, r *loadgen.Resource) time.Duration {
	random := rand.New(rand.NewPCG(spec.Seed, 0x11fe))
	life, a := r.Events.Life, r.Events.Arrivals
	var modified, deleted []time.Duration // after the birth, of all lives
	sample := func(mean interface{ Sample(*rand.Rand) float64 }) time.Duration {
		return time.Duration(min(mean.Sample(random), 1e9) * float64(time.Second))
	}
	seconds := 0.0
	for range livesSampled {
		n := int(life.Modifications.Sample(random) + random.Float64())
		end := 0
		if r.Kind == "pod" || r.Kind == "metadata" {
			end = min(2, max(0, n-3))
		}
		at := time.Duration(0)
		for range n - end {
			at += sample(life.Between)
			modified = append(modified, at)
		}
		if life.Age.IsZero() {
			continue
		}
		at += sample(life.Age)
		if end > 0 {
			modified = append(modified, at)
			if end > 1 {
				at += sample(life.Between)
				modified = append(modified, at)
			}
			at += time.Millisecond
		}
		deleted = append(deleted, at)
		seconds += at.Seconds() / livesSampled
	}
	it.Life = &Life{Modifications: life.Modifications.Mean(), Seconds: seconds}
	by := func(t time.Duration, after []time.Duration) (events float64) {
		for _, d := range after {
			events += a.Expected(t - d)
		}
		return events / livesSampled
	}
	at := func(t time.Duration) Events {
		return Events{Added: a.Expected(t), Modified: by(t, modified), Deleted: by(t, deleted)}
	}
	length := spec.Duration
	if limit := float64(r.Events.Count); limit > 0 {
		length = until(spec.Duration, func(t time.Duration) bool { return at(t).All() >= limit })
	}
	it.Events = at(length)
	it.Events.Rate = perSecond(it.Events.All(), length)
	it.Events.Peak = it.Events.Rate * a.Peak() / max(a.Peak()/1e9, perSecond(it.Events.Added, length))
	return length
}

// follow works out the changes of endpoint slices: a slice changes when a pod
// starts to run, when its end begins, and when it is gone.
func (e *Explanation) follow(spec *loadgen.Spec) {
	for i := range e.Resources {
		if e.Resources[i].Pattern != "follow" {
			continue
		}
		var pods *Resource
		var of *loadgen.Resource
		for j := range e.Resources[:i] {
			if k := spec.Resources[j].Kind; k == "pod" || k == "metadata" {
				pods, of = &e.Resources[j], &spec.Resources[j]
				break
			}
		}
		all := pods.Events.All()
		changes := slicesChanges(of, pods)
		scale := changes / max(1, all)
		e.Resources[i].Events = Events{Modified: changes, Rate: pods.Events.Rate * scale, Peak: pods.Events.Peak * scale}
	}
}

func slicesChanges(r *loadgen.Resource, pods *Resource) float64 {
	added, deleted := pods.Events.Added, pods.Events.Deleted
	switch r.Events.Pattern {
	case "mix": // pods are gone without a last word
		return added + deleted
	case "node-failure": // unready too
		return added + 3*deleted
	case "lifecycle":
		if r.Events.Life.Modifications.Mean() < 4 {
			return added + deleted
		}
	case "heartbeat", "none":
		return 0
	}
	return added + 2*deleted
}
