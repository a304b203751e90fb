package summary

import (
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace"
)

// lives is a recording worked out by hand: pod a lives from 0 to 10 s with
// changes at 1 s and 2 s; b existed before and is deleted at 4.5 s.
func lives() *Counter {
	c := NewCounter()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	add := func(at time.Duration, recorded, delivered watch.EventType, name, object string) {
		c.Add(trace.Record{Time: begin.Add(at), Recorded: recorded, Type: delivered, GroupResource: "pods", Kind: "Pod", Namespace: "n", Name: name, Object: []byte(object)})
	}
	add(0, watch.Added, watch.Added, "a", `{"managedFields":[{"x":"]"}],"k":1}`)
	add(time.Second, watch.Modified, watch.Modified, "a", `{}`)
	add(2*time.Second, watch.Modified, watch.Modified, "a", `{}`)
	add(3*time.Second, watch.Bookmark, watch.Bookmark, "", `{}`)
	add(4*time.Second, watch.Modified, watch.Added, "b", `{}`)
	add(4500*time.Millisecond, watch.Deleted, watch.Deleted, "b", `{}`)
	add(10*time.Second, watch.Deleted, watch.Deleted, "a", `{}`)
	return c
}

func TestSummary(t *testing.T) {
	s := lives().Summary(trace.Stats{ImpliedAdds: 1, Skipped: map[string]int{"reads": 3}})
	require.Equal(t, 10*time.Second, s.Duration)
	require.Len(t, s.Resources, 1)
	p := s.Resources[0]
	require.Equal(t, []int{6, 1, 3, 2, 1, 1, 2, 1}, []int{p.Events, p.Added, p.Modified, p.Deleted, p.Bookmarks, p.Existing, p.Objects, p.Spaces})
	require.InDelta(t, 0.6, p.Rate, 1e-9)
	require.EqualValues(t, 35+5*2, p.Bytes)
	require.InDelta(t, 27.0/45, p.Managed, 1e-9)
	require.Equal(t, Skew{Top1Percent: 4.0 / 6, ZipfS: 1, Busiest: 4}, p.Skew, "4 and 2 events: 1/1 and 1/2")
	require.Equal(t, 2, p.Bursts.Peak)
	require.InDelta(t, (8-36.0/11)/10/(6.0/11), p.Bursts.Dispersion, 1e-9, "1, 1, 1, 2 and 1 events in 5 of 11 seconds")
	require.Equal(t, 1, p.Lives.Whole)
	require.Equal(t, []float64{2, 10, 8, 1}, []float64{p.Lives.Modifications.Median, math.Round(p.Lives.Seconds.Median), math.Round(p.Lives.Idle.Median), math.Round(p.Lives.Steps.Median)})
	require.Equal(t, []Oddity{{"skipped: reads", 3}, {"changes of objects that existed before, taken as additions", 1}}, s.Oddities)
}

// Events of one moment have no rate, but the second that they fall in has them.
func TestSummaryOfAMoment(t *testing.T) {
	c := NewCounter()
	for _, name := range []string{"a", "b"} {
		c.Add(trace.Record{Time: time.Unix(7, 0), Type: watch.Added, Recorded: watch.Added, GroupResource: "pods", Name: name, Object: []byte(`{}`)})
	}
	p := c.Summary().All
	require.Zero(t, p.Rate)
	require.Equal(t, Bursts{Peak: 2}, p.Bursts)
}

// The exponent that counts were made with is found again.
func TestZipf(t *testing.T) {
	for _, s := range []float64{0, 0.5, 1, 1.5} {
		var counts []int
		for rank := range 200 {
			counts = append(counts, int(1e6*math.Pow(float64(rank+1), -s)))
		}
		require.InDelta(t, s, skew(counts).ZipfS, 0.01)
	}
	require.Zero(t, skew(nil))
}

// The figures of the sample, as its README gives them.
func TestSample(t *testing.T) {
	records, err := trace.Sample()
	require.NoError(t, err)
	c := NewCounter()
	for {
		r, err := records.NextRecord()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		c.Add(r)
	}
	s := c.Summary(records.Stats())
	require.Equal(t, []int{1625, 321, 1172, 132, 215}, []int{s.All.Events, s.All.Added, s.All.Modified, s.All.Deleted, s.Resources[0].Existing})
	require.InDelta(t, 0.41, s.All.Managed, 0.01)
}
