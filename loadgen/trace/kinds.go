package trace

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// slim is the kind of an object of which only the metadata is known.
var slim = schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}

// A kindInfo is what there is to know about the objects of one kind.
type kindInfo struct {
	gvk      schema.GroupVersionKind
	resource string // "pods", "deployments.apps"
	typed    bool   // client-go has a type for it
	slim     bool
	guessed  bool // the resource's name
}

// names are what the resource can be called: "deployments.apps",
// "deployments", "deployment".
func (k kindInfo) names() []string {
	plural, _, _ := strings.Cut(k.resource, ".")
	return []string{k.resource, plural, k.gvk.Kind}
}

type kindName struct{ apiVersion, kind, resource string }

// firstKind is the kind of a resource's first objects, which are of this kind if these
// are the first. Metadata alone says no kind, and is the same in every version.
func (d decoder) firstKind(resource string, kind schema.GroupVersionKind) schema.GroupVersionKind {
	name, _ := parseResource(resource)
	if name.Group != kind.Group {
		return kind
	}
	if first, ok := d.first[name]; ok {
		return first
	}
	if len(d.first) < 10_000 { // bounded whatever the file holds
		d.first[name] = kind
	}
	return kind
}

// kind looks a kind up once.
func (d decoder) kind(record Record) (kindInfo, error) {
	name := kindName{record.APIVersion, record.Kind, record.Resource}
	if info, ok := d.kinds[name]; ok {
		return info, nil
	}
	switch {
	case name.kind == "":
		return kindInfo{}, errors.New("an object without kind")
	case name.apiVersion == "":
		return kindInfo{}, errors.New(name.kind + " without apiVersion")
	}
	gv, err := schema.ParseGroupVersion(name.apiVersion)
	if err != nil {
		return kindInfo{}, fmt.Errorf("apiVersion: found %q, expected GROUP/VERSION or VERSION", name.apiVersion)
	}
	info := kindInfo{gvk: gv.WithKind(name.kind)}
	if err := checkKind(info.gvk, name.resource); err != nil {
		return kindInfo{}, err
	}
	switch {
	case info.gvk != slim:
		info.typed = scheme.Scheme.Recognizes(info.gvk)
		d.firstKind(name.resource, info.gvk)
	case name.resource == "":
		return kindInfo{}, errors.New(`a PartialObjectMetadata without "resource" beside it, which says of what`)
	default:
		info.slim, info.gvk = true, d.firstKind(name.resource, KindOf(name.resource))
	}
	plural, guessed := ResourceOf(info.gvk)
	if given, _, _ := strings.Cut(name.resource, "."); given != "" {
		plural.Resource, guessed = given, false
	}
	info.resource, info.guessed = plural.String(), guessed
	if len(d.kinds) < 10_000 { // bounded whatever the file holds
		d.kinds[name] = info
	}
	return info, nil
}

// KindOf returns the kind of a resource such as "pods", "deployments.apps" or
// "widgets.v1.example.com", the last with its version. For a resource that
// client-go does not know it is a guess from the name.
func KindOf(resource string) schema.GroupVersionKind {
	name, version := parseResource(resource)
	kind, ok := knownResources()[name]
	if !ok {
		return guessKind(name.WithVersion(cmp.Or(version, "v1")))
	}
	kind.Version = cmp.Or(version, kind.Version)
	return kind
}

// parseResource splits a resource's name from its version, "" if it has none.
func parseResource(resource string) (name schema.GroupResource, version string) {
	full, name := schema.ParseResourceArg(resource)
	if full != nil && versionName.MatchString(full.Version) { // or the group has dots
		return full.GroupResource(), full.Version
	}
	return name, ""
}

// versionName tells a version from the first part of a group.
var versionName = regexp.MustCompile(`^v[0-9]`)

func guessKind(r schema.GroupVersionResource) schema.GroupVersionKind {
	for kind, plural := range irregular {
		if plural == r.Resource && kind.Group == r.Group {
			return kind.WithVersion(r.Version)
		}
	}
	kind := singular(r.Resource)
	if kind != "" {
		kind = strings.ToUpper(kind[:1]) + kind[1:]
	}
	return r.GroupVersion().WithKind(kind)
}

// knownResources is client-go's kinds by resource, with and without group. One
// without a group is the first of the core group, apps and then by name.
var knownResources = sync.OnceValue(func() map[schema.GroupResource]schema.GroupVersionKind {
	all := map[schema.GroupResource]schema.GroupVersionKind{}
	versions := scheme.Scheme.PrioritizedVersionsAllGroups()
	slices.SortStableFunc(versions, func(a, b schema.GroupVersion) int { return rank(a.Group) - rank(b.Group) })
	for _, gv := range versions {
		for kind := range scheme.Scheme.KnownTypes(gv) {
			plural, _ := ResourceOf(gv.WithKind(kind))
			for _, group := range []string{gv.Group, ""} {
				name := schema.GroupResource{Group: group, Resource: plural.Resource}
				if _, ok := all[name]; !ok {
					all[name] = gv.WithKind(kind)
				}
			}
		}
	}
	return all
})

func rank(group string) int {
	switch group {
	case "":
		return 0
	case "apps":
		return 1
	case "extensions": // long gone; its kinds live elsewhere
		return 3
	}
	return 2
}
