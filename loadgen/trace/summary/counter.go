package summary

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace"
)

// A Counter counts records. It needs memory for the names of the objects and
// for the seconds, not for the events.
type Counter struct {
	begin, end time.Time
	all        *tally
	resources  map[string]*tally
}

// A tally is the counts of one resource, or of all.
type tally struct {
	Traffic
	seconds map[int64]int
	objects map[string]*object
	sizes   *hdrhistogram.Histogram // bytes
	between *hdrhistogram.Histogram // ms
	ages    *hdrhistogram.Histogram // ms
	idle    *hdrhistogram.Histogram // ms
	steps   *hdrhistogram.Histogram // ms
	changes *hdrhistogram.Histogram // modifications of a life
	usual   map[int]int
	spaces  map[string]struct{}
	managed int64
}

// An object is what is known of one so far.
type object struct {
	events   int
	changes  int // since it was added
	alive    bool
	born     time.Time     // zero if it existed before
	idle     time.Duration // the longest time without an event since
	lastTime time.Time
}

// NewCounter returns an empty counter.
func NewCounter() *Counter {
	return &Counter{all: newTally("", ""), resources: map[string]*tally{}}
}

func newTally(resource, kind string) *tally {
	milliseconds := func() *hdrhistogram.Histogram {
		return hdrhistogram.New(1, int64(365*24*time.Hour/time.Millisecond), 3)
	}
	return &tally{
		Traffic: Traffic{Resource: resource, Kind: kind},
		seconds: map[int64]int{}, objects: map[string]*object{}, usual: map[int]int{}, spaces: map[string]struct{}{},
		sizes: hdrhistogram.New(1, 1<<27, 4), changes: hdrhistogram.New(1, 1<<20, 3),
		between: milliseconds(), ages: milliseconds(), idle: milliseconds(), steps: milliseconds(),
	}
}

// Add counts a record.
func (c *Counter) Add(r trace.Record) {
	t := c.resources[r.GroupResource]
	if t == nil {
		t = newTally(r.GroupResource, r.Kind)
		c.resources[r.GroupResource] = t
	}
	if r.Type == watch.Bookmark {
		t.Bookmarks++
		c.all.Bookmarks++
		return
	}
	if !r.Time.IsZero() {
		if c.begin.IsZero() || r.Time.Before(c.begin) {
			c.begin = r.Time
		}
		if r.Time.After(c.end) {
			c.end = r.Time
		}
	}
	managed := managedFields(r.Object)
	key := r.Namespace + "/" + r.Name
	t.add(r, key, managed)
	c.all.add(r, r.GroupResource+" "+key, managed)
}

func (t *tally) add(r trace.Record, key string, managed int64) {
	t.Events++
	recorded := cmp.Or(r.Recorded, r.Type)
	switch recorded {
	case watch.Added:
		t.Added++
	case watch.Modified:
		t.Modified++
	case watch.Deleted:
		t.Deleted++
	}
	t.spaces[r.Namespace] = struct{}{}
	t.Bytes += int64(len(r.Object))
	t.managed += managed
	record(t.sizes, int64(len(r.Object)))
	if !r.Time.IsZero() {
		t.seconds[r.Time.Unix()]++
	}
	o := t.objects[key]
	if o == nil {
		o = &object{}
		t.objects[key] = o
		if recorded != watch.Added {
			t.Existing++
		}
	}
	o.events++
	if o.alive && !r.Time.IsZero() && !o.lastTime.IsZero() {
		pause := r.Time.Sub(o.lastTime)
		record(t.between, pause.Milliseconds())
		o.idle = max(o.idle, pause)
	}
	o.lastTime = r.Time
	switch {
	case r.Type == watch.Deleted:
		if o.alive && !o.born.IsZero() {
			age := r.Time.Sub(o.born)
			record(t.ages, age.Milliseconds())
			record(t.idle, o.idle.Milliseconds())
			if o.changes > 0 {
				record(t.steps, (age-o.idle).Milliseconds()/int64(o.changes))
			}
			record(t.changes, int64(o.changes))
			t.usual[o.changes]++
		}
		o.alive, o.born, o.changes, o.idle = false, time.Time{}, 0, 0
	case !o.alive:
		o.alive = true
		if recorded == watch.Added {
			o.born = r.Time
		}
	default:
		o.changes++
	}
}

// record notes a value; one beyond the range counts as its end.
func record(h *hdrhistogram.Histogram, value int64) {
	_ = h.RecordValue(max(0, min(value, h.HighestTrackableValue())))
}

// managedFields returns the length of the managedFields of an object's JSON.
func managedFields(object []byte) int64 {
	const begin = `"managedFields":[`
	at := bytes.Index(object, []byte(begin))
	if at < 0 {
		return 0
	}
	depth, quoted := 0, false
	for i := at + len(begin) - 1; i < len(object); i++ {
		switch c := object[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return int64(i + 1 - at)
			}
		}
	}
	return int64(len(object) - at)
}

// Summary computes the figures of what was counted; the oddities come from the
// traces that the records were read from.
func (c *Counter) Summary(stats ...trace.Stats) Summary {
	s := Summary{Begin: c.begin, Duration: c.end.Sub(c.begin), Resources: []Traffic{}, Oddities: Oddities(stats...)}
	s.All = c.all.traffic(c.begin, c.end)
	for _, t := range c.resources {
		s.Resources = append(s.Resources, t.traffic(c.begin, c.end))
	}
	slices.SortFunc(s.Resources, func(a, b Traffic) int { return strings.Compare(a.Resource, b.Resource) })
	return s
}

func (t *tally) traffic(begin, end time.Time) Traffic {
	out := t.Traffic
	if seconds := end.Sub(begin).Seconds(); seconds > 0 {
		out.Rate = float64(out.Events) / seconds
	}
	out.Bursts = bursts(t.seconds, begin.Unix(), end.Unix())
	if out.Bytes > 0 {
		out.Managed = float64(t.managed) / float64(out.Bytes)
	}
	counts := make([]int, 0, len(t.objects))
	for _, o := range t.objects {
		counts = append(counts, o.events)
	}
	out.Objects, out.Spaces = len(counts), len(t.spaces)
	out.Skew = skew(counts)
	out.Size = spread(t.sizes, 1)
	out.Lives = Lives{
		Whole: int(t.ages.TotalCount()), Modifications: spread(t.changes, 1),
		Seconds: spread(t.ages, 1000), Idle: spread(t.idle, 1000), Steps: spread(t.steps, 1000), Between: spread(t.between, 1000),
	}
	for changes, n := range t.usual {
		if share := float64(n) / float64(out.Lives.Whole); share > out.Lives.UsualShare || share == out.Lives.UsualShare && changes < out.Lives.Usual {
			out.Lives.Usual, out.Lives.UsualShare = changes, share
		}
	}
	return out
}

func spread(h *hdrhistogram.Histogram, unit float64) Spread {
	at := func(p float64) float64 { return float64(h.ValueAtQuantile(p)) / unit }
	if h.TotalCount() == 0 {
		return Spread{}
	}
	return Spread{
		Count: h.TotalCount(), Mean: math.Round(h.Mean()/unit*1000) / 1000, Min: float64(h.Min()) / unit,
		Median: at(50), P90: at(90), P99: at(99), Max: float64(h.Max()) / unit,
	}
}
