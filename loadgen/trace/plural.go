package trace

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// irregular are resources that no rule finds.
var irregular = map[schema.GroupKind]string{
	{Group: "metrics.k8s.io", Kind: "PodMetrics"}:                   "pods",
	{Group: "metrics.k8s.io", Kind: "NodeMetrics"}:                  "nodes",
	{Group: "k8s.cni.cncf.io", Kind: "NetworkAttachmentDefinition"}: "network-attachment-definitions",
}

// ResourceOf returns the resource of a kind. Unless client-go knows the kind it
// is a guess: a kind's definition says its plural, an object does not.
func ResourceOf(kind schema.GroupVersionKind) (resource schema.GroupResource, guessed bool) {
	if scheme.Scheme.Recognizes(kind) {
		plural, _ := meta.UnsafeGuessKindToResource(kind) // which is right for these
		return plural.GroupResource(), false
	}
	if plural, ok := irregular[kind.GroupKind()]; ok {
		return schema.GroupResource{Group: kind.Group, Resource: plural}, false
	}
	return schema.GroupResource{Group: kind.Group, Resource: plural(kind.Kind)}, true
}

// inPlural ends kinds that are in the plural already, such as Endpoints,
// Settings or Metrics: an s that makes no singular word.
var inPlural = regexp.MustCompile(`(points|ings|ics|ions|aints|ants|ents|ors|ers|tats)$`)

// plural is the plural of a kind in small letters, by the rules that Kubernetes'
// generators have.
func plural(kind string) string {
	word := strings.ToLower(kind)
	ends := func(endings ...string) bool {
		for _, e := range endings {
			if strings.HasSuffix(word, e) {
				return true
			}
		}
		return false
	}
	switch {
	case inPlural.MatchString(word):
		return word
	case ends("s", "x", "z", "ch", "sh"):
		return word + "es"
	case ends("ay", "ey", "iy", "oy", "uy"), !ends("y"):
		return word + "s"
	}
	return word[:len(word)-1] + "ies"
}

// singular is a resource's name in the singular.
func singular(resource string) string {
	for _, ending := range [][2]string{{"ies", "y"}, {"sses", "ss"}, {"uses", "us"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}} {
		if stem, ok := strings.CutSuffix(resource, ending[0]); ok && stem != "" {
			return stem + ending[1]
		}
	}
	return strings.TrimSuffix(resource, "s")
}
