package loadgen

import (
	"math"
	"time"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A lifecycle makes new objects and leads each through its life. The initial
// population only stands there.
type lifecycle struct {
	*population
	births   *arrivals
	birth    time.Duration // of the next object
	left     int           // events
	deadline time.Duration
	agenda   agenda
	plans    []plan // by key
}

// A plan is what an object still has before it.
type plan struct {
	start uint16 // modifications that bring it up
	end   uint8  // modifications that take it down
}

// maxModifications is how many changes a life may have on average.
const maxModifications = 10_000

// lastWords is the time from a pod's last modification to its delete: on
// recordings they come within milliseconds.
const lastWords = time.Millisecond

func newLifecycle(p *population, births *arrivals, limit int, deadline time.Duration) *lifecycle {
	return &lifecycle{
		population: p, births: births, birth: births.next(), left: limit, deadline: deadline,
		plans: make([]plan, len(p.entities), cap(p.entities)),
	}
}

func (l *lifecycle) peek() time.Duration {
	at := l.birth
	if len(l.agenda) > 0 {
		at = min(at, l.agenda[0].at)
	}
	if l.left == 0 || at >= l.deadline {
		return math.MaxInt64
	}
	return at
}

func (l *lifecycle) next() change {
	l.left--
	if len(l.agenda) == 0 || l.birth <= l.agenda[0].at {
		at := l.birth
		l.birth = l.births.next()
		c := l.bear()
		if next, ok := l.following(c, at); ok {
			l.agenda.push(next)
		}
		return c
	}
	now := l.agenda[0]
	c := l.advance(now.key, now.stage)
	if next, ok := l.following(c, now.at); ok {
		l.agenda.replaceFirst(next)
	} else {
		l.agenda.pop()
	}
	return c
}

// bear adds an object and plans its life.
func (l *lifecycle) bear() change {
	c := l.create(l.random.below(l.groups))
	m := l.spec.Events.Life.Modifications.Sample(l.random.Rand)
	all := int(min(math.MaxUint16, math.Floor(m+l.random.float()))) // keeps the mean of what is no whole number
	end := 0
	if l.spec.pods() {
		end = min(2, max(0, all-3))
	}
	for int(c.key) >= len(l.plans) {
		l.plans = append(l.plans, plan{})
	}
	l.plans[c.key] = plan{uint16(all - end), uint8(end)}
	return c
}

// following is what an object does after a change; false if nothing.
func (l *lifecycle) following(c change, at time.Duration) (appointment, bool) {
	life, plan := &l.spec.Events.Life, &l.plans[c.key]
	next := appointment{key: c.key}
	switch {
	case c.stage == deleted:
		return next, false
	case plan.start > 0:
		next.at, next.stage = at+l.sample(life.Between), l.nextStart(c.key, plan.start)
		plan.start--
	case c.stage == terminating && plan.end > 0:
		plan.end--
		next.at, next.stage = at+l.sample(life.Between), finished
	case c.stage == terminating || c.stage == finished:
		next.at, next.stage = at+lastWords, deleted
	case life.Age.IsZero():
		return next, false
	case plan.end > 0:
		plan.end--
		next.at, next.stage = at+l.sample(life.Age), terminating
	default:
		next.at, next.stage = at+l.sample(life.Age), deleted
	}
	return next, true
}

// nextStart is the stage that the next of the modifications left leads to; the
// last of them leaves a pod running at the latest.
func (l *lifecycle) nextStart(key uint32, left uint16) stage {
	stage := l.entities[key].stage
	switch {
	case !l.spec.pods() || stage == running:
		return restarted
	case left == 1:
		return running
	}
	return stage + 1
}

func (l *lifecycle) sample(d randvar.Dist) time.Duration { return duration(d.Sample(l.random.Rand)) }

// An appointment is when an object enters its next stage.
type appointment struct {
	at    time.Duration
	key   uint32
	stage stage
}

// An agenda is a binary heap by time.
type agenda []appointment

func (a *agenda) push(it appointment) {
	*a = append(*a, it)
	h := *a
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].at <= it.at {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = it
}

func (a *agenda) pop() {
	last := len(*a) - 1
	it := (*a)[last]
	*a = (*a)[:last]
	if last > 0 {
		a.replaceFirst(it)
	}
}

// replaceFirst puts an appointment in the place of the first one.
func (a agenda) replaceFirst(it appointment) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(a) {
			break
		}
		if right := child + 1; right < len(a) && a[right].at < a[child].at {
			child = right
		}
		if it.at <= a[child].at {
			break
		}
		a[i] = a[child]
		i = child
	}
	a[i] = it
}
