package memory

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// sizes are the bytes of JSON below each top-level field and each annotation, as
// shares of all.
func (p Problem) sizes() (top, annotations map[string]float64) {
	top, annotations = map[string]float64{}, map[string]float64{}
	total := 0.0
	for _, k := range p.Set.Kinds {
		weight := float64(k.Count) / float64(len(k.Sample))
		for _, b := range k.Sample {
			var o map[string]json.RawMessage
			var meta struct {
				Metadata map[string]json.RawMessage `json:"metadata"`
			}
			if json.Unmarshal(b, &o) != nil || json.Unmarshal(b, &meta) != nil {
				continue // feed refuses it
			}
			total += weight * float64(len(b))
			for name, v := range o {
				top[name] += weight * float64(len(v))
			}
			for name, v := range meta.Metadata {
				top["metadata."+name] += weight * float64(len(v))
			}
			var texts map[string]string
			_ = json.Unmarshal(meta.Metadata["annotations"], &texts) // none if it fails
			for key, v := range texts {
				annotations[key] += weight * float64(len(key)+len(v))
			}
		}
	}
	for _, shares := range []map[string]float64{top, annotations} {
		for name := range shares {
			shares[name] /= total
		}
	}
	return top, annotations
}

func (p Problem) present() map[string]bool {
	top, _ := p.sizes()
	found := map[string]bool{}
	for name := range top {
		found[name] = true
	}
	return found
}

// largest are the fields beside the metadata.
func (p Problem) largest() []string {
	top, _ := p.sizes()
	maps.DeleteFunc(top, func(name string, _ float64) bool {
		return strings.HasPrefix(name, "metadata") || name == "kind" || name == "apiVersion"
	})
	names := slices.SortedFunc(maps.Keys(top), func(a, b string) int { return cmp.Or(cmp.Compare(top[b], top[a]), strings.Compare(a, b)) })
	return names[:min(len(names), mostParts)]
}

// annotations are those to try without.
func (p Problem) annotations() []string {
	_, shares := p.sizes()
	keys := slices.SortedFunc(maps.Keys(shares), func(a, b string) int { return cmp.Or(cmp.Compare(shares[b], shares[a]), strings.Compare(a, b)) })
	chosen := slices.Clone(p.Annotation)
	for i, key := range keys {
		if i < mostAnnotations && shares[key] >= largeAnnotation && !slices.Contains(chosen, key) {
			chosen = append(chosen, key)
		}
	}
	return chosen
}
