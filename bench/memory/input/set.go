// Package input reads what a cache would hold, whatever it is given as, and keeps
// little of it: the number and the size of all objects, and a random sample of each
// kind. Its steps:
//
//  1. [Recording] reads a file: what kubectl get -o json prints, or a recording.
//     [Workload] asks the load generator, [Cluster] lists from an API server.
//  2. Each hands its objects to a [Set], which counts them and keeps the sample.
//  3. [Set.Finish] says what was odd, and refuses what can't be measured.
package input

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What a set keeps of each kind.
const (
	DefaultSample  = 1000     // objects
	mostKindBytes  = 64 << 20 // of JSON
	mostSetBytes   = 256 << 20
	mostKinds      = 200
	oddSampleShare = 0.1 // by which the sample's mean size may differ unsaid
)

// A Kind is the objects of one kind and version.
type Kind struct {
	schema.GroupVersionKind
	Resource   string // the plural: "pods"
	Namespaced bool
	Count      int   // objects
	Bytes      int64 // of JSON, of all objects
	Sample     [][]byte
	MetaOnly   bool // the objects are PartialObjectMetadata

	seen   int
	kept   int64          // bytes of the sample
	places map[string]int // of the sample's objects, by key
}

// Name is the kind as a reader knows it: "Deployment.apps".
func (k *Kind) Name() string { return strings.TrimSuffix(k.Kind+"."+k.Group, ".") }

// A Set is what a cache would hold.
type Set struct {
	Source   string
	Kinds    []*Kind
	Warnings []string

	sample int
	random *rand.Rand
	byKind map[schema.GroupVersionKind]*Kind
}

// NewSet returns an empty set that keeps up to sample objects of each kind.
func NewSet(source string, sample int, seed uint64) *Set {
	return &Set{Source: source, sample: sample, random: rand.New(rand.NewPCG(seed, 0x3e3)), byKind: map[schema.GroupVersionKind]*Kind{}}
}

// An object is one that a source has.
type object struct {
	gvk       schema.GroupVersionKind
	resource  string
	namespace string
	name      string
	metaOnly  bool
	json      []byte
}

func (s *Set) kind(o object) (*Kind, error) {
	k := s.byKind[o.gvk]
	if k == nil {
		if len(s.Kinds) >= mostKinds {
			return nil, fmt.Errorf("found more than %d kinds, expected fewer: choose some with --resource", mostKinds)
		}
		k = &Kind{GroupVersionKind: o.gvk, Resource: o.resource, MetaOnly: o.metaOnly, places: map[string]int{}}
		s.byKind[o.gvk] = k
		s.Kinds = append(s.Kinds, k)
	}
	k.Namespaced = k.Namespaced || o.namespace != ""
	return k, nil
}

// add counts an object and may keep it: each object has the same chance.
func (s *Set) add(o object) error {
	k, err := s.kind(o)
	if err != nil {
		return err
	}
	k.seen++
	k.Count++
	k.Bytes += int64(len(o.json))
	place := len(k.Sample)
	if place >= s.sample || k.kept >= mostKindBytes || s.kept() >= mostSetBytes {
		if place == 0 {
			return nil
		}
		if place = s.random.IntN(k.seen); place >= len(k.Sample) {
			return nil
		}
	}
	s.put(k, place, o)
	return nil
}

func (s *Set) put(k *Kind, place int, o object) {
	kept := slices.Clone(o.json)
	if place < len(k.Sample) {
		k.kept -= int64(len(k.Sample[place]))
		for key, at := range k.places {
			if at == place {
				delete(k.places, key)
				break
			}
		}
		k.Sample[place] = kept
	} else {
		k.Sample = append(k.Sample, kept)
	}
	k.kept += int64(len(kept))
	k.places[o.namespace+"/"+o.name] = place
}

// change takes the newer version of an object that the sample has.
func (s *Set) change(o object) {
	k := s.byKind[o.gvk]
	if k == nil {
		return
	}
	if place, ok := k.places[o.namespace+"/"+o.name]; ok {
		k.kept += int64(len(o.json) - len(k.Sample[place]))
		k.Sample[place] = slices.Clone(o.json)
	}
}

func (s *Set) kept() (sum int64) {
	for _, k := range s.Kinds {
		sum += k.kept
	}
	return sum
}

// Objects is how many there are.
func (s *Set) Objects() (n int) {
	for _, k := range s.Kinds {
		n += k.Count
	}
	return n
}

// Finish orders the kinds, largest first, and says what is odd about them.
func (s *Set) Finish() error {
	s.Kinds = slices.DeleteFunc(s.Kinds, func(k *Kind) bool { return len(k.Sample) == 0 })
	if len(s.Kinds) == 0 {
		return fmt.Errorf("%s: found no objects, expected at least one", s.Source)
	}
	slices.SortStableFunc(s.Kinds, func(a, b *Kind) int { return cmp.Compare(b.Bytes, a.Bytes) })
	versions := map[schema.GroupKind]string{}
	for _, k := range s.Kinds {
		if other, ok := versions[k.GroupKind()]; ok {
			s.warn("%s comes in versions %s and %s, which are counted as two kinds, as two informers would hold them", k.Name(), other, k.Version)
		}
		versions[k.GroupKind()] = k.Version
		if k.MetaOnly {
			s.warn("of %s there is only the metadata, so only an informer of metadata can be predicted", k.Name())
		}
		mean, sampled := float64(k.Bytes)/float64(k.Count), float64(k.kept)/float64(len(k.Sample))
		if off := sampled/mean - 1; max(off, -off) > oddSampleShare {
			s.warn("the sample of %s is %.0f%% off the mean size of all %d: its sizes are spread wide, a larger --sample helps", k.Name(), 100*off, k.Count)
		}
	}
	return nil
}

func (s *Set) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// Whole refuses a set of which nothing but the metadata is known.
func (s *Set) Whole() error {
	if slices.ContainsFunc(s.Kinds, func(k *Kind) bool { return k.MetaOnly }) {
		return errors.New("--form: the objects are metadata alone, expected metadata")
	}
	return nil
}
