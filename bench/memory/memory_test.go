package memory

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/informerbench/informerbench/bench/memory/child"
	"github.com/informerbench/informerbench/bench/memory/input"
	"github.com/informerbench/informerbench/loadgen"
)

// problem is about pods whose processes are made up: what lives is the JSON that the
// server sends, what is resident twice as much.
func problem(t *testing.T) Problem {
	t.Helper()
	s := input.NewSet("test", 30, 1)
	require.NoError(t, input.Workload(s, &loadgen.Spec{Seed: 1, Resources: []loadgen.Resource{{Kind: "pod", Count: 400, Nodes: 5, ManagedFields: true, Events: loadgen.Events{Mix: loadgen.Mix{Update: 1}, Count: 1}}}}))
	return Problem{
		Set: s, Measured: 400, Repeats: 2, Seed: 1, Sample: imagined,
		Load: Load{Form: child.Typed, Encoding: "json", List: "list", Informer: "client-go", Indices: []string{"namespace"}, Handlers: 1},
	}
}

// What an imagined process takes.
const (
	imaginedBase  = 1 << 20
	imaginedStore = 150 // bytes an object, without indices
	imaginedIndex = 50
)

func imagined(_ context.Context, j child.Job) (r child.Reading, err error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true}}
	defer client.CloseIdleConnections()
	bodies := 0
	for _, k := range j.Kinds {
		answer, err := client.Get(j.Server + "/api/v1/" + k.Resource)
		if err != nil {
			return r, err
		}
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return r, err
		}
		bodies += len(b)
		r.Objects += bytes.Count(b, []byte(`"resourceVersion":`)) - 1
	}
	for _, drop := range j.Drop {
		if drop == managedFieldsPath {
			bodies = bodies * 3 / 4
		}
	}
	if j.Form == child.Metadata {
		bodies /= 10
	}
	r.BaseHeap, r.BaseResident, r.BaseGo = imaginedBase, 2*imaginedBase, imaginedBase
	r.Bare = imaginedBase + uint64(bodies)
	r.Live = r.Bare + uint64(r.Objects*(imaginedStore+imaginedIndex*len(j.Indices)))
	r.Start = child.Phase{Heap: r.Live * 3 / 2, Resident: 3 * r.Live, CPU: time.Duration(bodies)}
	r.Service = child.Phase{Resident: 2 * r.Live, CPU: 1}
	r.Relist = child.Phase{Resident: 5 * r.Live / 2, CPU: 1}
	r.Timeline = []child.Moment{{At: 1, Heap: 1, Resident: 1}}
	return r, nil
}

func TestMeasure(t *testing.T) {
	p := problem(t)
	p.Objects = 40_000
	p.Drop, p.Shards = []string{"status"}, 4
	r, err := Measure(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, "done", r.Stopped)
	assert.False(t, r.Prediction.Measured, "as many objects were not measured")

	t.Run("a prediction is a line through the sizes", func(t *testing.T) {
		each := r.PerObject.Value
		assert.InEpsilon(t, imaginedBase+40_000*each, r.Prediction.Live.Value, 0.01)
		assert.InEpsilon(t, 3*r.Prediction.Live.Value, r.Prediction.Peak.Value, 0.01)
		assert.LessOrEqual(t, r.Prediction.Live.Low, r.Prediction.Live.Value)
		assert.True(t, slices.IsSortedFunc(r.Sizes, func(a, b Usage) int { return a.Objects - b.Objects }))
	})
	t.Run("the parts are the whole", func(t *testing.T) {
		sum, names := 0.0, []string{}
		for _, part := range r.Parts {
			if part.Within == "" {
				sum += part.Bytes.Value
				names = append(names, part.Name)
			}
		}
		assert.InEpsilon(t, r.PerObject.Value, sum, 0.02)
		for _, name := range []string{"metadata.managedFields", "spec", "status", "stores, indices and handlers"} {
			assert.Contains(t, names, name)
		}
		i := slices.IndexFunc(r.Parts, func(p Part) bool { return p.Name == "index namespace" })
		assert.InDelta(t, imaginedIndex, r.Parts[i].Bytes.Value, 0.1)
	})
	t.Run("what if", func(t *testing.T) {
		saves := map[string]float64{}
		for _, c := range r.Changes {
			saves[c.Name] = c.Live.Value
		}
		assert.Greater(t, saves["metadata only"], saves["strip managedFields"])
		assert.Greater(t, saves["strip managedFields"], 0.15)
		assert.InDelta(t, 0.75, saves["one shard of 4"], 0.25)
		assert.Contains(t, saves, "strip status")
		assert.True(t, slices.ContainsFunc(r.Changes, func(c Saving) bool { return c.Advised && c.Name == "strip managedFields" }))
		assert.Contains(t, r.Summary, "Strip managedFields: ")
		for _, c := range r.Changes {
			if c.Name == "metadata only" { // a peak is three times what lives, the process itself included
				all := r.Prediction.Peak.Value - 2*imaginedBase
				assert.InEpsilon(t, 3*40_000*c.Bytes.Value/all, c.Peak.Value, 0.01, "of all objects, not of those measured")
			}
		}
		require.NotEmpty(t, r.Transforms)
		assert.Contains(t, r.Transforms[0].Code, "o.SetManagedFields(nil)")
	})
	t.Run("advice", func(t *testing.T) {
		assert.GreaterOrEqual(t, r.Advice.Limit, r.Advice.Request)
		assert.Greater(t, float64(r.Advice.Limit), r.Prediction.Peak.Value)
		assert.Less(t, r.Advice.GOMEMLIMIT, r.Advice.Limit)
		assert.Contains(t, r.Advice.Manifest(), fmt.Sprintf("memory: %dMi", r.Advice.Limit>>20))
	})
}

// The collector runs when the heap has doubled, so that a saving of a quarter may be nothing
// or a half at the peak, by how many objects there are: over the rounds it is a quarter.
func TestSavingsAtThePeakAreOfAnyNumberOfObjects(t *testing.T) {
	for _, objects := range []int{300, 340} {
		p := problem(t)
		p.Objects, p.Measured, p.Repeats = objects, objects, 6
		p.Sample = func(ctx context.Context, j child.Job) (child.Reading, error) {
			r, err := imagined(ctx, j)
			r.Start.Resident = r.BaseResident + uint64(math.Exp2(math.Ceil(math.Log2(float64(r.Live-r.BaseHeap)))))
			return r, err
		}
		r, err := Measure(t.Context(), p)
		require.NoError(t, err)
		i := slices.IndexFunc(r.Changes, func(c Saving) bool { return c.Name == "strip managedFields" })
		assert.InDelta(t, r.Changes[i].Live.Value, r.Changes[i].Start.Value, 0.1, "%d objects", objects)
	}
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*Problem){
		"--objects: found -1":                    func(p *Problem) { p.Objects = -1 },
		"--measured: found 10":                   func(p *Problem) { p.Measured = 10 },
		"--repeats: found 0":                     func(p *Problem) { p.Repeats = 0 },
		"--handlers: found 1001":                 func(p *Problem) { p.Load.Handlers = 1001 },
		`--encoding: found "xml"`:                func(p *Problem) { p.Load.Encoding = "xml" },
		`--list: found "all"`:                    func(p *Problem) { p.Load.List = "all" },
		`--form: found "raw"`:                    func(p *Problem) { p.Load.Form = "raw" },
		`--index: found "size"`:                  func(p *Problem) { p.Load.Indices = []string{"size"} },
		"--drop: found metadata.name":            func(p *Problem) { p.Drop = []string{"metadata.name"} },
		"--annotation: found":                    func(p *Problem) { p.Annotation = []string{"a]b"} },
		"--selector: ":                           func(p *Problem) { p.Selector = "a in" },
		"--field-selector: ":                     func(p *Problem) { p.Field = "a" },
		"the objects are metadata alone":         func(p *Problem) { p.Set.Kinds[0].MetaOnly = true },
		"object 1 of Pod: ":                      func(p *Problem) { p.Set.Kinds[0].Sample[0] = []byte(`{"spec":`) },
		"pilot failed":                           func(p *Problem) { p.Sample = fails("pilot failed", 0) },
		"the middle failed":                      func(p *Problem) { p.Sample = fails("the middle failed", 1); p.Repeats = 1 },
		"the informers hold 7 objects, expected": func(p *Problem) { p.Sample = short },
	} {
		p := problem(t)
		change(&p)
		_, err := Measure(t.Context(), p)
		assert.ErrorContains(t, err, want)
	}
}

// Objects may have names that no path can have: what would be without them is not asked.
func TestNamesWithoutAPath(t *testing.T) {
	p := problem(t)
	text := strings.Repeat("x", 1<<16)
	for i := range p.Set.Kinds[0].Sample {
		p.Set.Kinds[0].Sample[i] = fmt.Appendf(nil, `{"metadata":{"annotations":{"a]b":%q}},"spec":{"c":%q},"odd..name":%q}`, text, text, text)
	}
	names := []string{}
	for _, a := range p.parts(100) {
		names = append(names, a.part)
	}
	assert.Contains(t, names, "spec")
	changes, err := p.changes(100)
	require.NoError(t, err)
	require.NotEmpty(t, changes)
	for _, a := range changes {
		names = append(names, a.name)
	}
	assert.NotContains(t, strings.Join(names, " "), "odd")
	assert.NotContains(t, strings.Join(names, " "), "a]b")
}

// fails works so often.
func fails(text string, after int) Sampler {
	return func(ctx context.Context, j child.Job) (child.Reading, error) {
		if after--; after < 0 {
			return child.Reading{}, errors.New(text)
		}
		return imagined(ctx, j)
	}
}

func short(ctx context.Context, j child.Job) (child.Reading, error) {
	r, err := imagined(ctx, j)
	r.Objects = 7
	return r, err
}

// An arm that fails is named and left out; an interrupted measurement keeps its rounds.
func TestPartialResults(t *testing.T) {
	p := problem(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.Repeats = 5
	p.Progress = func(_ string, done, of int) {
		if done > of/2 {
			cancel()
		}
	}
	p.Sample = func(ctx context.Context, j child.Job) (child.Reading, error) {
		if j.Form == child.Metadata {
			return child.Reading{}, errors.New("no such form here")
		}
		if ctx.Err() != nil {
			return child.Reading{}, ctx.Err()
		}
		return imagined(ctx, j)
	}
	r, err := Measure(ctx, p)
	require.NoError(t, err)
	assert.Equal(t, "interrupted", r.Stopped)
	assert.Equal(t, 2, r.Repeats)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "metadata only could not be measured: no such form here")
	for _, c := range r.Changes {
		assert.NotEqual(t, "metadata only", c.Name)
	}
	cancel()
	_, err = Measure(ctx, p)
	assert.Error(t, err, "not one round")
}

// What does not fit into the machine is extrapolated, and said to be.
func TestMoreThanTheMachineHolds(t *testing.T) {
	if freeMemory() == 0 {
		t.Skip("this system does not say how much memory is free")
	}
	p := problem(t)
	p.Repeats, p.Objects, p.Measured = 1, 1_000_000_000, 1_000_000_000
	p.Sample = func(ctx context.Context, j child.Job) (child.Reading, error) {
		r, err := imagined(ctx, j)
		r.Live += uint64(r.Objects) * 100 << 20
		return r, err
	}
	r, err := Measure(t.Context(), p)
	require.NoError(t, err)
	assert.False(t, r.Prediction.Measured)
	assert.Less(t, r.Sizes[2].Objects, 1000)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "would need more memory than this machine has free")
}

// The shares of the parts are of what they add up to, as the slope over the sizes may be
// less; one reading has no interval.
func TestTablesOfFewReadings(t *testing.T) {
	tables := Result{
		PerObject: Figure{Value: 30},
		Parts:     []Part{{Name: "data", Bytes: Figure{Value: 45}}, {Name: "stores", Bytes: Figure{Value: 15}}, {Name: "index", Bytes: Figure{Value: 6}, Within: "stores"}},
	}.Tables()
	var shares []string
	for _, row := range tables[2].Rows {
		shares = append(shares, row[2])
	}
	assert.Equal(t, []string{"75%", "25%", "10%"}, shares)
	for _, row := range tables[1].Rows {
		assert.Equal(t, "-", row[2], row[0])
	}
}

// However the lines through the sizes cross, no phase is predicted to go beyond the peak.
func TestNoPhaseGoesBeyondThePeak(t *testing.T) {
	m := &measurement{rounds: 1}
	for n, resident := range map[int][2]uint64{100: {60, 80}, 150: {90, 80}, 300: {160, 100}} {
		x := child.Reading{Service: child.Phase{Resident: resident[0]}, Relist: child.Phase{Resident: resident[1]}}
		m.base = append(m.base, &arm{objects: n, readings: map[int]child.Reading{0: x}})
	}
	u := m.usage(500, nil)
	assert.Greater(t, u.ServiceResident.Value, 250.0)
	assert.GreaterOrEqual(t, u.Peak.Value, u.ServiceResident.Value)
	assert.GreaterOrEqual(t, u.Peak.High, u.ServiceResident.High)
	assert.GreaterOrEqual(t, u.RelistResident.Low, 0.0)
}

func TestReadHeap(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "inuse_space", Unit: "bytes"}}}
	add := func(bytes int64, stack ...string) {
		s := &profile.Sample{Value: []int64{bytes}}
		for _, name := range stack {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			s.Location = append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	add(700, "k8s.io/api/core/v1.(*PodSpec).Unmarshal", "k8s.io/api/core/v1.(*PodList).Unmarshal", "k8s.io/client-go/tools/cache.(*Reflector).list")
	add(200, "k8s.io/apimachinery/pkg/apis/meta/v1.(*FieldsV1).Unmarshal", "k8s.io/api/core/v1.(*PodList).Unmarshal", "k8s.io/client-go/tools/cache.(*Reflector).list")
	add(50, "k8s.io/client-go/tools/cache.(*threadSafeMap).Update")
	add(30, "main.work")
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	h, err := ReadHeap(&b)
	require.NoError(t, err)
	assert.Equal(t, &Heap{InUse: 980, Caches: 950, Groups: []HeapPart{{"objects: Pod", 700}, {"objects: managedFields", 200}, {"stores and indices", 50}, {"not of caches", 30}}}, h)
	assert.Equal(t, []string{"objects: Pod", "700 B", "71.4%"}, h.Table().Rows[0])

	_, err = ReadHeap(strings.NewReader("nothing"))
	assert.ErrorContains(t, err, "found no profile")
	_, err = ReadHeap(neverEnding{})
	assert.ErrorContains(t, err, "unpacks to more than 128 MiB")
	p.SampleType[0].Type = "cpu"
	b.Reset()
	require.NoError(t, p.Write(&b))
	_, err = ReadHeap(&b)
	assert.ErrorContains(t, err, "found a profile of something else")
}

type neverEnding struct{}

func (neverEnding) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestInStep(t *testing.T) {
	for _, c := range [][3]int{{100_000, 10_000, 6250}, {10_000, 10_000, 10_000}, {30_000, 10_000, 7500}, {7, 300, 300}, {1000, 400, 300}} {
		assert.Equal(t, c[2], inStep(c[0], c[1]))
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{0: "0 B", 999: "999 B", 1000: "0.98 KiB", -2048: "-2.00 KiB", 99.96 * 1024: "100 KiB", 3 << 30: "3.00 GiB"} {
		assert.Equal(t, want, Bytes(n))
	}
}
