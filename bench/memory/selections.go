package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informerbench/informerbench/bench/memory/feed"
)

// selections are what-ifs that hold fewer objects.
func (p Problem) selections(n int, add func(name, how, asks string, change func(*arm))) error {
	if p.Shards > 1 {
		add(fmt.Sprintf("one shard of %d", p.Shards), "sharded list and watch (KEP-5866)", "a server that can, and replicas that share the work", func(a *arm) {
			a.kinds = selected(a.kinds, func(o *unstructured.Unstructured) bool {
				h := fnv.New32a()
				_, _ = h.Write([]byte(o.GetNamespace() + "/" + o.GetName())) // it never fails
				return h.Sum32()%uint32(p.Shards) == 0
			})
		})
	}
	if p.Selector != "" {
		s, err := labels.Parse(p.Selector)
		if err != nil {
			return fmt.Errorf("--selector: %w", err)
		}
		add("selector "+p.Selector, "the informer's label selector", "a program that needs no others", func(a *arm) {
			a.kinds = selected(a.kinds, func(o *unstructured.Unstructured) bool { return s.Matches(labels.Set(o.GetLabels())) })
		})
	}
	if p.Field != "" {
		s, err := fields.ParseSelector(p.Field)
		if err != nil {
			return fmt.Errorf("--field-selector: %w", err)
		}
		add("field selector "+p.Field, "the informer's field selector", "a program that needs no others", func(a *arm) {
			a.kinds = selected(a.kinds, func(o *unstructured.Unstructured) bool {
				return s.Matches(fieldSet(s, o))
			})
		})
	}
	if spaces := p.namespaces(); len(spaces) > 1 {
		add("an informer a namespace", fmt.Sprintf("%d caches of one namespace each instead of one of all", len(spaces)), "", func(a *arm) {
			for i, k := range p.Set.Kinds {
				if k.Namespaced {
					a.job.Kinds[i].Namespaces = spaces
				}
			}
		})
	}
	return nil
}

func fieldSet(s fields.Selector, o *unstructured.Unstructured) fields.Set {
	set := fields.Set{}
	for _, r := range s.Requirements() {
		if v, ok, _ := unstructured.NestedFieldNoCopy(o.Object, strings.Split(r.Field, ".")...); ok {
			set[r.Field] = fmt.Sprint(v)
		}
	}
	return set
}

// selected keeps what a selector keeps, of the sample and so of the count.
func selected(kinds []feed.Kind, keep func(*unstructured.Unstructured) bool) []feed.Kind {
	all := slices.Clone(kinds)
	for i, k := range all {
		all[i].Sample = slices.DeleteFunc(slices.Clone(k.Sample), func(b []byte) bool {
			var o unstructured.Unstructured
			return json.NewDecoder(bytes.NewReader(b)).Decode(&o.Object) != nil || !keep(&o)
		})
		all[i].Count = k.Count * len(all[i].Sample) / len(k.Sample)
	}
	return all
}

// namespaces are those of the sample, none if there are too many.
func (p Problem) namespaces() []string {
	found := map[string]bool{}
	for _, k := range p.Set.Kinds {
		for _, b := range k.Sample {
			var o struct{ Metadata struct{ Namespace string } }
			if json.Unmarshal(b, &o) == nil && o.Metadata.Namespace != "" {
				found[o.Metadata.Namespace] = true
			}
		}
	}
	if len(found) > namespacesTried {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}
