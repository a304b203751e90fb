package impltest

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

type newBacklog = func(backlog func(informer cache.InformerNameAndResource, handler string) cache.GaugeMetric) newInformer

// TestBacklog tests an option of an informer that upstream's does not have: a gauge for
// each handler, made by backlog, of the notifications that wait for it. Relaxes names the
// clauses that it gives up; TestInformer tests the informer without the option.
func TestBacklog(t *testing.T, new func(backlog func(informer cache.InformerNameAndResource, handler string) cache.GaugeMetric) func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer, relaxes ...string) {
	t.Helper()
	runClauses(t, backlogClauses, new, relaxes)
}

var backlogClauses = []clause[newBacklog]{
	{name: "backlog-counts", contract: "backlog 1", run: backlogCounts,
		reason: "a handler that falls behind shows before its objects do: the gauge counts each notification that it was not called for yet"},
	{name: "backlog-by-handler", contract: "backlog 1", run: backlogByHandler,
		reason: "the handler that is slow has a name: one gauge is made for each, and what waits for one is not counted for another"},
	{name: "backlog-ends", contract: "backlog 2", run: backlogEnds,
		reason: "an alert on the gauge ends with its handler: it is zero after removal and at the informer's end"},
}

// A held handler waits in each call for its gate.
type held struct {
	*listener
	gate chan struct{}
	r    *informerRecorder
}

// holding makes an informer of three objects with a handler that is held; the gauges
// are metrics of the recorder, each under its handler's name.
func holding(t *trial, new newBacklog) (*informed, *held) {
	h := &held{gate: make(chan struct{}), r: &informerRecorder{}}
	make := func(id cache.InformerNameAndResource, handler string) cache.GaugeMetric {
		return h.r.metric("backlog", described(id)+" for "+handler)
	}
	i := inform(t, new(make), newSource("a", "b", "c"), cache.SharedIndexInformerOptions{Identifier: reserved(t)})
	h.listener = i.listen(cache.HandlerOptions{})
	h.during(func(string) { <-h.gate })
	t.Cleanup(func() { close(h.gate) })
	return i.run(), h
}

func backlogCounts(t *trial, new newBacklog) {
	i, h := holding(t, new)
	expect := func(want float64, when string) {
		synctest.Wait()
		told := h.r.since("backlog")
		if assert.NotEmpty(t, told, when) {
			assert.InDelta(t, want, told[len(told)-1], 0, "%s: %v", when, told)
		}
	}
	expect(2, "the handler is in the first of three calls")
	h.gate <- struct{}{}
	expect(1, "it is in the second")
	i.source.set("a", "b")
	expect(3, "two more came meanwhile")
	for range 4 {
		h.gate <- struct{}{}
	}
	synctest.Wait()
	assert.Equal(t, []float64{2, 1, 0}, slices.Compact(h.r.since("backlog")), "until all were delivered")
}

func backlogByHandler(t *trial, new newBacklog) {
	i, h := holding(t, new)
	assert.Len(t, h.r.made, 1, "gauges: one for the handler")
	h.r.since("backlog")
	quick := 0
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { quick++ }})
	assert.NoError(t, err)
	synctest.Wait()
	assert.Equal(t, 3, quick, "calls of the second handler")
	told := h.r.since("backlog")
	assert.Zero(t, told[len(told)-1], "the second handler's gauge, while the first is held: %v", told)
	if assert.Len(t, h.r.made, 2) {
		assert.Regexp(t, `^backlog of measured-\d+ things for .+`, h.r.made[0], "which informer and handler")
		assert.NotEqual(t, h.r.made[0], h.r.made[1])
	}
}

func backlogEnds(t *trial, new newBacklog) {
	for _, end := range []func(*informed, *held){
		func(i *informed, h *held) { assert.NoError(t, i.RemoveEventHandler(h.registration)) },
		func(i *informed, _ *held) { i.stop() },
	} {
		i, h := holding(t, new)
		synctest.Wait()
		end(i, h)
		i.source.set("a")
		synctest.Wait()
		h.gate <- struct{}{}
		synctest.Wait()
		told := h.r.since("backlog")
		assert.Zero(t, told[len(told)-1], "at the end: %v", told)
	}
}
