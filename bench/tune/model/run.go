package model

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"
)

// A Plan says what of a simulation is counted.
type Plan struct {
	Warmup float64   // seconds before anything is counted
	Length float64   // seconds that are counted
	Steps  []float64 // their lengths in seconds, of a series; what they count is told one by one
	Held   int       // of how many reconciles the waits for the client's limit are kept, at most
	Seed   uint64
}

// A Count is what came of one step.
type Count struct{ Adds, Taken, Waited float64 }

// A Result is what was counted.
type Result struct {
	Length                      float64 // seconds
	Wait                        Sketch  // from add to get
	Work                        Sketch  // from get to done
	Settle                      Sketch  // from an arrival to the end of the first successful reconcile that saw it
	Throttle                    Sketch  // of a call, for the client's limit
	Others                      Sketch  // the same, of others' calls
	Arrivals, Adds, Done, Calls int
	Busy                        float64 // seconds that workers worked
	Waiting                     float64 // seconds that keys waited
	Steps                       []Count
	Held                        []float64 // what reconciles' calls waited for the client's limit
}

// A key as the work queue sees it, with the arrivals that no reconcile has seen yet.
type key struct {
	added    float64
	due      []float64
	failures int32
	dirty    bool
	busy     bool
}

// A job is a reconcile under way, or one of others.
type job struct {
	key     int32 // -1: of others
	calls   int32 // still to be made
	got     float64
	service float64
	held    float64
	due     []float64
}

type engine struct {
	s *System
	c *Controller
	p *Plan
	r *Result

	random  *rand.Rand
	stream  *stream
	keys    []key
	free    []int32 // of keys that are used again, where arrivals don't meet
	jobs    []job
	idle    []int32 // jobs that are none
	workers int     // that have nothing to do
	dirty   int     // keys that wait, those that are worked on meanwhile among them
	queue   []int32
	head    int
	steps   agenda
	retries agenda
	client  bucket
	retry   bucket
	now     float64
	others  float64 // when others call next
	calling int     // of others
	held    int     // reconciles that others have yet to begin
	row     int32   // calls of others, one after another
	added   cursor
	taken   cursor
	kept    int // one in so many reconciles
}

// Run simulates. It ends early, with an error, only when the context does.
func (s *System) Run(ctx context.Context, c Controller, p Plan) (*Result, error) {
	e := &engine{s: s, c: &c, p: &p, r: &Result{Length: p.Length}, random: rand.New(rand.NewPCG(p.Seed, 0x5eed))}
	e.stream = s.Arrivals.stream(s.Rate, rand.New(rand.NewPCG(p.Seed, 0xa1)))
	e.workers = c.Workers
	if e.row = int32(s.Row); e.row == 0 {
		e.row = max(1, int32(math.Round(s.MeanCalls())))
	}
	e.client = bucket{rate: c.QPS, burst: float64(c.Burst), tokens: float64(c.Burst)}
	e.retry = bucket{rate: c.BucketRate, burst: float64(c.BucketBurst), tokens: float64(c.BucketBurst)}
	e.keys = make([]key, s.Keys)
	e.others = math.Inf(1)
	if s.Background > 0 && c.QPS > 0 {
		e.others = 0
	}
	e.added = newCursor(&p)
	e.taken, e.r.Steps = e.added, e.added.counts[:len(p.Steps)]
	if p.Held > 0 {
		e.kept = 1 + int(s.Rate*p.Length)/p.Held
	}
	if s.Keys == 0 && s.Failure == 0 && c.QPS == 0 && p.Held == 0 {
		return e.r, e.inOrder(ctx)
	}
	return e.r, e.run(ctx)
}

func (e *engine) run(ctx context.Context) error {
	end := e.p.Warmup + e.p.Length
	arrival, n, batch := e.stream.next()
	for round := 0; ; round++ {
		if round&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		step, retry := e.steps.first(), e.retries.first()
		at := min(arrival, step, retry, e.others)
		e.pass(min(at, end))
		switch {
		case at > end:
			return nil
		case at == step:
			e.work(e.steps.pop().of)
		case at == retry:
			e.add(e.retries.pop().of)
		case at == e.others:
			e.call()
		default:
			e.arrive(n, batch)
			arrival, n, batch = e.stream.next()
		}
		for e.workers > 0 && e.head < len(e.queue) {
			e.get()
		}
	}
}

func (e *engine) counting() bool { return e.now >= e.p.Warmup }

// pass moves the time.
func (e *engine) pass(to float64) {
	if to > e.p.Warmup {
		d := to - max(e.now, e.p.Warmup)
		e.r.Busy += d * float64(e.c.Workers-e.workers)
		e.r.Waiting += d * float64(e.dirty)
	}
	e.now = to
}

// arrive adds the keys of n arrivals.
func (e *engine) arrive(n int, batch bool) {
	if e.counting() {
		e.r.Arrivals += n
	}
	swept := -1 // each key once
	if batch && e.s.Arrivals.Even && e.s.Keys > 0 {
		swept = e.random.IntN(e.s.Keys)
	}
	for i := range n {
		var k int32
		switch {
		case e.s.Keys == 0:
			k = slot(&e.keys, &e.free)
		case swept >= 0:
			k = int32((swept + i) % e.s.Keys)
		case e.s.Popular != nil:
			k = int32(min(sort.SearchFloat64s(e.s.Popular, e.random.Float64()), e.s.Keys-1))
		default:
			k = int32(e.random.IntN(e.s.Keys))
		}
		e.keys[k].due = append(e.keys[k].due, e.now)
		e.add(k)
	}
}

// add is what the queue's Add does.
func (e *engine) add(k int32) {
	x := &e.keys[k]
	if x.dirty {
		return
	}
	x.dirty, x.added = true, e.now
	e.dirty++
	if e.counting() {
		e.r.Adds++
		e.added.at(e.now).Adds++
	}
	if !x.busy {
		e.queue = append(e.queue, k)
	}
}

// get gives an idle worker the first key.
func (e *engine) get() {
	k := e.queue[e.head]
	if e.head++; e.head > 1024 && 2*e.head > len(e.queue) {
		e.queue = append(e.queue[:0], e.queue[e.head:]...)
		e.head = 0
	}
	e.workers--
	got := e.now
	x := &e.keys[k]
	x.dirty, x.busy = false, true
	e.dirty--
	if e.counting() {
		e.r.Wait.Add(got - x.added)
		step := e.taken.at(e.now)
		step.Taken++
		step.Waited += got - x.added
	}
	i := slot(&e.jobs, &e.idle)
	j := &e.jobs[i]
	j.key, j.got, j.held, j.calls = k, got, 0, e.drawCalls()
	j.due, x.due = x.due, j.due[:0]
	j.service = e.s.Service.sample(e.random)
	if e.c.QPS > 0 {
		e.steps.push(event{got + j.service, i})
		return
	}
	took := j.service
	if e.counting() {
		e.r.Calls += int(j.calls)
	}
	for ; j.calls > 0; j.calls-- {
		took += e.random.ExpFloat64() * e.s.Latency
	}
	e.steps.push(event{got + took, i})
}

func (e *engine) drawCalls() int32 {
	if len(e.s.Calls) < 2 {
		return 0
	}
	u, n := e.random.Float64(), 0
	for n < len(e.s.Calls)-1 && u >= e.s.Calls[n] {
		u -= e.s.Calls[n]
		n++
	}
	return int32(n)
}

// call is when others have a reconcile to do.
func (e *engine) call() {
	e.others += e.random.ExpFloat64() * float64(e.row) / e.s.Background
	if e.s.Others > 0 && e.calling == e.s.Others {
		e.held++
	} else {
		e.calling++
		e.begin()
	}
}

// begin begins a reconcile of others.
func (e *engine) begin() {
	i := slot(&e.jobs, &e.idle)
	e.jobs[i] = job{key: -1, calls: e.row, due: e.jobs[i].due[:0]}
	at := e.now
	if e.s.OthersWork > 0 {
		at += e.random.ExpFloat64() * e.s.OthersWork
	}
	e.steps.push(event{at, i})
}

// work goes on with a reconcile: its next call, or its end.
func (e *engine) work(i int32) {
	j := &e.jobs[i]
	if j.calls > 0 {
		j.calls--
		wait := e.client.reserve(e.now)
		j.held += wait
		switch {
		case !e.counting():
		case j.key < 0:
			e.r.Others.Add(wait)
		default:
			e.r.Calls++
			e.r.Throttle.Add(wait)
		}
		e.steps.push(event{e.now + wait + e.random.ExpFloat64()*e.s.Latency, i})
		return
	}
	e.idle = append(e.idle, i)
	switch {
	case j.key >= 0:
		e.done(j)
	case e.held > 0:
		e.held--
		e.begin()
	default:
		e.calling--
	}
}

func (e *engine) done(j *job) {
	e.workers++
	x := &e.keys[j.key]
	x.busy = false
	failed := e.s.Failure > 0 && e.random.Float64() < e.s.Failure
	if e.counting() {
		e.r.Work.Add(e.now - j.got)
		if e.r.Done++; e.kept > 0 && e.r.Done%e.kept == 0 {
			e.r.Held = append(e.r.Held, j.held)
		}
	}
	if failed {
		e.failed(j)
	} else {
		x.failures = 0
		if e.counting() {
			for _, due := range j.due {
				e.r.Settle.Add(e.now - due)
			}
		}
	}
	j.due = j.due[:0]
	switch {
	case x.dirty:
		e.queue = append(e.queue, j.key)
	case !failed && e.s.Keys == 0:
		e.free = append(e.free, j.key)
	}
}

// failed tries the key again later.
func (e *engine) failed(j *job) {
	x := &e.keys[j.key]
	x.due = append(x.due, j.due...)
	delay := min(e.c.MaxDelay, e.c.BaseDelay*math.Pow(2, float64(x.failures)))
	x.failures++
	delay = max(delay, e.retry.reserve(e.now))
	e.retries.push(event{e.now + delay, j.key})
}
