package fields

import (
	"hash/maphash"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An Interner makes equal strings one. Its method Object is a cache.TransformFunc.
// It keeps a string from the second time on that it is seen, so that those that
// occur once, such as UIDs, cost it nothing, and at most mostInterned of them.
type Interner struct {
	mu    sync.Mutex
	seed  maphash.Seed
	seen  []uint64 // hashes of strings that were seen once lately
	table map[string]string
}

// What an interner keeps: longer strings rarely repeat.
const (
	longestInterned = 128
	mostInterned    = 100_000
	seenSlots       = 1 << 14
)

// NewInterner returns an empty one. One serves all informers of a program.
func NewInterner() *Interner {
	return &Interner{seed: maphash.MakeSeed(), seen: make([]uint64, seenSlots), table: map[string]string{}}
}

// Object interns the strings of an object, which must not be shared yet.
func (t *Interner) Object(object any) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u, ok := object.(*unstructured.Unstructured); ok {
		t.tree(u.Object)
	} else if v := reflect.ValueOf(object); v.Kind() == reflect.Pointer {
		t.value(v)
	}
	return object, nil
}

func (t *Interner) text(s string) string {
	if s == "" || len(s) > longestInterned {
		return s
	}
	if known, ok := t.table[s]; ok {
		return known
	}
	hash := maphash.String(t.seed, s)
	slot := &t.seen[hash%seenSlots]
	if *slot != hash {
		*slot = hash
	} else if len(t.table) < mostInterned {
		s = strings.Clone(s)
		t.table[s] = s
	}
	return s
}

func (t *Interner) tree(value any) any {
	switch v := value.(type) {
	case string:
		return t.text(v)
	case map[string]any:
		for key, item := range v {
			delete(v, key) // or the map would keep the key that it has
			v[t.text(key)] = t.tree(item)
		}
	case []any:
		for i, item := range v {
			v[i] = t.tree(item)
		}
	}
	return value
}

func (t *Interner) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			t.value(v.Elem())
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(t.text(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			t.value(v.Field(i))
		}
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			t.value(v.Index(i))
		}
	case reflect.Map:
		m, ok := v.Interface().(map[string]string)
		if !ok {
			return
		}
		for key, item := range m {
			delete(m, key)
			m[t.text(key)] = t.text(item)
		}
	}
}
