package fit

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/summary"
)

// sizesOf is which events of a resource have their size measured: every 8th,
// since making JSON of an object costs more than making the object.
const sizesOf = 8

// Measure counts what a workload does, its population aside. The resources are
// named as in the spec.
func Measure(ctx context.Context, spec *loadgen.Spec) (summary.Summary, error) {
	generator, err := spec.Generator()
	if err != nil {
		return summary.Summary{}, err
	}
	counter := summary.NewCounter()
	last := make([]struct {
		object []byte
		events int
	}, len(generator.Spec().Resources))
	for begin := time.Unix(0, 0); ; {
		event, err := generator.Next()
		if errors.Is(err, io.EOF) {
			return counter.Summary(), nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return summary.Summary{}, err
		}
		if event.Type == watch.Bookmark {
			continue
		}
		l := &last[event.Resource]
		if l.events%sizesOf == 0 {
			if l.object, err = json.Marshal(event.Object); err != nil {
				return summary.Summary{}, err
			}
		}
		l.events++
		counter.Add(trace.Record{
			Time: begin.Add(event.At), Recorded: event.Type, Type: event.Type, GroupResource: generator.Spec().Resources[event.Resource].Name,
			Namespace: event.Object.GetNamespace(), Name: event.Object.GetName(), Object: l.object,
		})
	}
}

// A Distance is how far a figure of the workload is from the recording's.
type Distance struct {
	Resource  string  `json:"resource"`
	Figure    string  `json:"figure"`
	Recording float64 `json:"recording"`
	Workload  float64 `json:"workload"`
	// Distance is a difference of shares (0.1: ten of a hundred), or else
	// relative: 0.1 is a tenth more or less than the recording.
	Distance float64 `json:"distance"`
	Share    bool    `json:"share"` // the figures are shares
	Far      bool    `json:"far"`   // the workload does not resemble the recording in this
}

// A limit is how far apart a figure may be: a difference of shares, or how many
// times one may be the other.
type limit struct {
	figure string
	share  float64
	times  float64
}

// limits say from where on a load is another one. What a controller's queue
// feels most (how much, what, and how it lives) is held more closely than what
// varies from minute to minute in one cluster.
var limits = []limit{
	{figure: "events/s", times: 1.25},    // the load itself
	{figure: "added", share: 0.05},       // the mix: a tenth of all events changes sides
	{figure: "modified", share: 0.05},    //
	{figure: "deleted", share: 0.05},     //
	{figure: "top 1%", share: 0.15},      // few objects take most, or they don't
	{figure: "zipf", share: 0.5},         // an exponent
	{figure: "dispersion", times: 3},     // of few bursts: one more changes it by half
	{figure: "peak/s", times: 2.5},       // one second of all
	{figure: "bytes", times: 1.25},       // a median
	{figure: "whole lives", share: 0.15}, // objects that come and go
	{figure: "life changes", times: 1.5}, // a median of few whole numbers
	{figure: "life s", times: 2},         // a median of a wide distribution
}

// far applies the limit of a distance's figure.
func (d Distance) far() bool {
	for _, l := range limits {
		switch {
		case l.figure != d.Figure:
		case l.share > 0:
			return math.Abs(d.Distance) > l.share
		case d.Figure == "dispersion": // below 1 it is even, and nobody feels how even
			return math.Abs(math.Log(max(1, d.Workload)/max(1, d.Recording))) > math.Log(l.times)
		case d.Recording == 0 || d.Workload == 0:
			return d.Recording != d.Workload
		default:
			return math.Abs(math.Log(d.Workload/d.Recording)) > math.Log(l.times)
		}
	}
	return false
}

// Compare returns the distances, for all and by resource, in the order of the
// recording's.
func Compare(recording summary.Summary, spec *loadgen.Spec, workload summary.Summary) []Distance {
	named := map[string]summary.Traffic{}
	for _, t := range workload.Resources {
		named[t.Resource] = t
	}
	all := distances("all", recording.All, workload.All)
	if resources := busy(recording); len(resources) > 1 {
		for i, t := range resources {
			all = append(all, distances(t.Resource, t, named[spec.Resources[i].Name])...)
		}
	}
	return all
}

func distances(resource string, a, b summary.Traffic) (all []Distance) {
	add := func(figure string, x, y float64, share bool) {
		d := y - x
		if !share && x != 0 {
			d /= math.Abs(x)
		}
		next := Distance{Resource: resource, Figure: figure, Recording: x, Workload: y, Distance: d, Share: share}
		next.Far = next.far()
		all = append(all, next)
	}
	of := func(n, all int) float64 { return float64(n) / float64(max(1, all)) }
	add("events/s", a.Rate, b.Rate, false)
	add("added", of(a.Added, a.Events), of(b.Added, b.Events), true)
	add("modified", of(a.Modified, a.Events), of(b.Modified, b.Events), true)
	add("deleted", of(a.Deleted, a.Events), of(b.Deleted, b.Events), true)
	add("top 1%", a.Skew.Top1Percent, b.Skew.Top1Percent, true)
	add("zipf", a.Skew.ZipfS, b.Skew.ZipfS, true)
	add("dispersion", a.Bursts.Dispersion, b.Bursts.Dispersion, false)
	add("peak/s", float64(a.Bursts.Peak), float64(b.Bursts.Peak), false)
	add("bytes", a.Size.Median, b.Size.Median, false)
	if a.Lives.Whole+b.Lives.Whole > 0 {
		add("whole lives", of(a.Lives.Whole, a.Objects), of(b.Lives.Whole, b.Objects), true)
	}
	if a.Lives.Whole > 0 && b.Lives.Whole > 0 {
		add("life changes", a.Lives.Modifications.Median, b.Lives.Modifications.Median, false)
		add("life s", a.Lives.Seconds.Median, b.Lives.Seconds.Median, false)
	}
	return all
}
