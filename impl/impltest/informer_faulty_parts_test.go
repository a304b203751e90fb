package impltest

import (
	"context"
	"errors"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// A faultySource stands between a faulty informer and its server.
type faultySource struct {
	cache.ListerWatcher
	server cache.ListerWatcherWithContext // the same
	i      *faultyInformer
	from   string // where the first watch after a list began
}

func (s *faultySource) IsWatchListSemanticsUnSupported() bool {
	lists, ok := s.ListerWatcher.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && lists.IsWatchListSemanticsUnSupported()
}

func (s *faultySource) List(o metav1.ListOptions) (runtime.Object, error) {
	s.from = ""
	if s.i.fault == "asks-any-version" && o.Continue == "" {
		o.ResourceVersion = "0"
	}
	answer, err := s.server.ListWithContext(context.Background(), o)
	if list, ok := answer.(*metav1.PartialObjectMetadataList); ok && err == nil && list.Continue != "" {
		switch s.i.fault {
		case "first-page-only":
			list.Continue = ""
		case "pages-stored":
			for n := range list.Items {
				_ = s.i.GetStore().Add(&list.Items[n])
			}
		}
	}
	return answer, err
}

func (s *faultySource) Watch(o metav1.ListOptions) (apiwatch.Interface, error) {
	streams := o.SendInitialEvents != nil && *o.SendInitialEvents
	switch {
	case streams:
		if s.from = ""; s.i.fault == "lists-beside" {
			_, _ = s.server.ListWithContext(context.Background(), o)
		}
	case s.i.fault == "asks-no-bookmarks":
		o.AllowWatchBookmarks = false
	case s.from == "":
		s.from = o.ResourceVersion
	case s.i.fault == "watches-from-list":
		o.ResourceVersion = s.from
	}
	w, err := s.server.WatchWithContext(context.Background(), o)
	if err != nil && s.i.fault == "refusals-alike" {
		err = errors.New(err.Error())
	}
	return w, err
}

func versionNumber(obj any) int {
	n, _ := strconv.Atoi(obj.(metav1.Object).GetResourceVersion())
	return n
}

func (i *faultyInformer) GetIndexer() cache.Indexer {
	if i.fault == "values-indexed" {
		return valueIndexer{i.SharedIndexInformer.GetIndexer()}
	}
	return i.SharedIndexInformer.GetIndexer()
}

// valueIndexer answers the objects of an index, where their pointers are expected.
type valueIndexer struct{ cache.Indexer }

func (x valueIndexer) ByIndex(name, value string) ([]any, error) {
	objs, err := x.Indexer.ByIndex(name, value)
	for n := range objs {
		objs[n] = *objs[n].(*metav1.PartialObjectMetadata)
	}
	return objs, err
}

func (i *faultyInformer) GetStore() cache.Store {
	if i.fault == "version-kept" {
		return keptVersion{i.SharedIndexInformer.GetStore()}
	}
	return i.SharedIndexInformer.GetStore()
}

// keptVersion is a store that forgets to follow the versions.
type keptVersion struct{ cache.Store }

func (keptVersion) LastStoreSyncResourceVersion() string { return "11" }

// onceTold is a provider whose metrics are told one value only.
type onceTold struct{ cache.InformerMetricsProvider }

func (p onceTold) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return once(p.InformerMetricsProvider.NewQueuedItemMetric(id).Set)
}

func (p onceTold) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return once(p.InformerMetricsProvider.NewProcessingLatencyMetric(id).Observe)
}

func (p onceTold) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return once(p.InformerMetricsProvider.NewStoreResourceVersionMetric(id).Set)
}

func once(tell func(float64)) toldMetric {
	var first sync.Once
	return func(v float64) { first.Do(func() { tell(v) }) }
}
