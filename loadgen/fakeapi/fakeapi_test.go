package fakeapi

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/loadgen"
	"github.com/informerbench/informerbench/loadgen/pace"
)

const workload = `
seed: 3
duration: 40s
resources:
- count: 300
  nodes: 10
  events:
    mix: {add: 1, update: 5, delete: 1}
    arrivals: {rate: 50}
`

// drive lets a real informer follow the workload, and checks that its store
// ends up as the server's.
func drive(t *testing.T, change func(*Config)) (Stats, int64) {
	t.Helper()
	var heard atomic.Int64
	var stats Stats
	synctest.Test(t, func(t *testing.T) {
		spec, err := loadgen.ParseSpec("workload", []byte(workload))
		require.NoError(t, err)
		g, err := spec.Generator()
		require.NoError(t, err)
		c := Config{Population: g.Population(), Stream: g, Types: g.Types(), Pacer: pace.NewTimer()}
		change(&c)
		server, err := New(c)
		require.NoError(t, err)
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(0), &corev1.Pod{}, 0, nil)
		count := func() { heard.Add(1) }
		_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { count() }, UpdateFunc: func(any, any) { count() }, DeleteFunc: func(any) { count() },
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			informer.RunWithContext(ctx)
		}()
		require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
		require.NoError(t, server.Run(ctx))
		time.Sleep(2 * time.Minute) // of fake time: back-offs and slow lists end
		synctest.Wait()
		want := map[string]string{}
		for _, object := range server.collections[0].objects {
			want[cache.MetaObjectToName(object).String()] = object.GetResourceVersion()
		}
		got := map[string]string{}
		for _, object := range informer.GetStore().List() {
			got[cache.MetaObjectToName(object.(*corev1.Pod)).String()] = object.(*corev1.Pod).ResourceVersion
		}
		require.Equal(t, want, got)
		stats = server.Stats()
		cancel()
		<-done
	})
	return stats, heard.Load()
}

func TestInformerFollowsTheServer(t *testing.T) {
	for _, noWatchList := range []bool{false, true} {
		t.Run(fmt.Sprintf("noWatchList=%v", noWatchList), func(t *testing.T) {
			stats, heard := drive(t, func(c *Config) { c.NoWatchList = noWatchList })
			require.InDelta(t, 40*50, stats.Sent, 200)
			require.Equal(t, 300+stats.Sent, heard, "every event is heard of, beside the population")
			require.EqualValues(t, 1, stats.Lists)
		})
	}
}

func TestFaults(t *testing.T) {
	cases := map[string]struct {
		faults loadgen.Faults
		check  func(*testing.T, Stats)
	}{
		"gone": {loadgen.Faults{Gone: 500}, func(t *testing.T, s Stats) {
			require.GreaterOrEqual(t, s.Gone, int64(3))
			require.Greater(t, s.Lists, int64(3))
		}},
		"disconnect": {loadgen.Faults{Disconnect: 7 * time.Second}, func(t *testing.T, s Stats) {
			require.Greater(t, s.Disconnects, int64(5))
			require.EqualValues(t, 1, s.Lists, "a watch comes back where it was cut")
		}},
		"slow list": {loadgen.Faults{SlowList: 5 * time.Second, Gone: 700}, func(t *testing.T, s Stats) { require.Greater(t, s.Lists, int64(1)) }},
		"duplicate": {loadgen.Faults{Duplicate: 0.1}, func(t *testing.T, s Stats) { require.InDelta(t, 200, s.Duplicates, 60) }},
		"stale":     {loadgen.Faults{Stale: 0.1}, func(t *testing.T, s Stats) { require.InDelta(t, 170, s.Stale, 60) }},
		"bookmarks": {loadgen.Faults{Bookmarks: time.Second}, func(t *testing.T, s Stats) { require.Greater(t, s.Bookmarks, int64(30)) }},
		"throttle":  {loadgen.Faults{Throttle: 25}, func(t *testing.T, s Stats) { require.Positive(t, s.Sent) }},
		"all": {loadgen.Faults{Gone: 600, Disconnect: 3 * time.Second, SlowList: time.Second, Duplicate: 0.05, Stale: 0.05, Bookmarks: time.Second, Throttle: 200},
			func(t *testing.T, s Stats) { require.Positive(t, s.Gone) }},
	}
	for name, c := range cases {
		for _, noWatchList := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/noWatchList=%v", name, noWatchList), func(t *testing.T) {
				stats, _ := drive(t, func(config *Config) { config.Faults, config.NoWatchList = c.faults, noWatchList })
				c.check(t, stats)
			})
		}
	}
}

func TestPages(t *testing.T) {
	spec, err := loadgen.ParseSpec("workload", []byte(workload))
	require.NoError(t, err)
	g, err := spec.Generator()
	require.NoError(t, err)
	server, err := New(Config{Population: g.Population(), Stream: g, Types: g.Types()})
	require.NoError(t, err)
	lw := server.ListerWatcher(0)
	o := metav1.ListOptions{Limit: 130}
	var names []string
	for {
		object, err := lw.List(o)
		require.NoError(t, err)
		list := object.(*metav1.List)
		for _, item := range list.Items {
			names = append(names, item.Object.(*corev1.Pod).Name)
		}
		if o.Continue = list.Continue; o.Continue == "" {
			break
		}
	}
	require.Len(t, names, 300)
	_, err = lw.List(metav1.ListOptions{Limit: 1, Continue: "here"})
	require.ErrorContains(t, err, `continue: found "here"`)
	o.Continue = "300/5"
	server.collections[0].append(watch.Deleted, server.collections[0].objects[0])
	server.collections[0].version++
	server.collections[0].compact()
	_, err = lw.List(o)
	require.ErrorContains(t, err, "too old resource version")
	_, err = lw.Watch(metav1.ListOptions{ResourceVersion: "7"})
	require.ErrorContains(t, err, "too old resource version")
}

// Each client goes on in the list of which it has the first page, whoever lists
// meanwhile; of too many the first is gone.
func TestPagesOfManyClients(t *testing.T) {
	c := newCollection(&corev1.Pod{})
	create := func(i int) {
		c.append(watch.Added, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i), ResourceVersion: strconv.Itoa(2 + i)}})
	}
	lw := ListerWatcher{&Server{}, c}
	list := func(token string) (*metav1.List, error) {
		object, err := lw.List(metav1.ListOptions{Limit: 1, Continue: token})
		if err != nil {
			return nil, err
		}
		return object.(*metav1.List), nil
	}
	create(0)
	var tokens []string
	for i := range maxPaged + 1 {
		create(i + 1)
		first, err := list("")
		require.NoError(t, err)
		require.EqualValues(t, i+1, *first.RemainingItemCount)
		tokens = append(tokens, first.Continue)
	}
	for i, token := range tokens[1:] {
		second, err := list(token)
		require.NoError(t, err)
		require.Equal(t, "1", second.Items[0].Object.(*corev1.Pod).Name)
		require.EqualValues(t, i+1, *second.RemainingItemCount)
		require.Equal(t, strconv.Itoa(i+4), second.ResourceVersion)
	}
	_, err := list(tokens[0])
	require.ErrorContains(t, err, "too old resource version")
}

// What is no longer fresh is forgotten, but for a watch that has yet to read it.
func TestHistoryStaysFresh(t *testing.T) {
	c := newCollection(&corev1.Pod{})
	begin := time.Now()
	version := 0
	happen := func(seconds int) {
		for range seconds { // ten events a second
			for range 10 {
				version++
				require.NoError(t, c.room(t.Context(), begin.Add(time.Duration(version)*100*time.Millisecond)))
				c.append(watch.Modified, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: fmt.Sprint(version)}})
			}
		}
	}
	happen(1000)
	require.LessOrEqual(t, c.history.len(), 2*750)
	_, ok := c.at(uint64(version - 750))
	require.True(t, ok, "75 seconds ago")
	_, ok = c.at(uint64(version - 2*750 - 1))
	require.False(t, ok, "more than 150 seconds ago")

	slow := &watcher{position: c.history.end}
	c.watches[slow] = struct{}{}
	happen(1000)
	require.Equal(t, slow.position, c.history.begin, "what it has yet to read is there")
	delete(c.watches, slow)
	happen(150)
	require.LessOrEqual(t, c.history.len(), 2*750)
}
