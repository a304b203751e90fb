package impl

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Add puts a variant written elsewhere into a component's list, from where the
// conformance suite, the benchmarks, the pipeline and the reports take it. It is
// called before anything else, in main:
//
//	err := impl.Add("queue", impl.Variant[impl.NewQueue[string]]{Name: "mine", New: newQueue})
//
// Generic components are measured with string keys; a few cases also with
// types.NamespacedName, for which the variant is added a second time under the
// same name. An error names the field and what was expected: the component has
// to be one of the catalogue's, New its constructor's type, Name free and made
// of lower-case letters, digits and dashes.
func Add[New any](componentName string, v Variant[New]) error {
	i := slices.IndexFunc(components, func(c component) bool { return c.name == componentName })
	if i < 0 {
		var names []string
		for _, c := range components {
			names = append(names, c.name)
		}
		return fmt.Errorf("unknown component %q, expected one of %s", componentName, strings.Join(names, ", "))
	}
	c, is := components[i], reflect.TypeFor[New]()
	switch {
	case withoutArguments(is) != withoutArguments(c.constructor):
		return fmt.Errorf("%s: New: found a %s, expected a %s", componentName, is, c.constructor)
	case reflect.ValueOf(v.New).IsNil():
		return fmt.Errorf("%s: New: found nil, expected a constructor", componentName)
	case !variantName.MatchString(v.Name):
		return fmt.Errorf("%s: Name: found %q, expected lower-case letters, digits and dashes", componentName, v.Name)
	}
	added.Lock()
	defer added.Unlock()
	key := addedKey{componentName, is}
	for _, other := range added.variants[key] {
		if other.(Variant[New]).Name == v.Name {
			return fmt.Errorf("%s: Name: %q was added already", componentName, v.Name)
		}
	}
	if slices.Contains(c.own, v.Name) {
		return fmt.Errorf("%s: Name: %q is in the catalogue already", componentName, v.Name)
	}
	added.variants[key] = append(added.variants[key], v)
	return nil
}

var variantName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// added holds what Add was given: Variant[New] by component and type of New.
var added = struct {
	sync.RWMutex
	variants map[addedKey][]any
}{variants: map[addedKey][]any{}}

type addedKey struct {
	component   string
	constructor reflect.Type
}

// withAdded is a component's list with what was added to it.
func withAdded[New any](componentName string, list []Variant[New]) []Variant[New] {
	added.RLock()
	defer added.RUnlock()
	for _, v := range added.variants[addedKey{componentName, reflect.TypeFor[New]()}] {
		list = append(list, v.(Variant[New]))
	}
	return list
}

// A component is a list of the catalogue, as Add knows it.
type component struct {
	name        string
	constructor reflect.Type
	own         []string // names of the list's own variants
}

var components = slices.Concat([]component{
	listed("storage", Storages[string]), listed("queue", Queues[string]), listed("delaying-queue", DelayingQueues[string]),
	listed("rate-limiter", RateLimiters[string]), listed("rate-limiting-queue", RateLimitingQueues[string]),
	listed("priority-queue", PriorityQueues[string]),
}, cacheComponents(), []component{listed("elector", Electors)})

func listed[New any](name string, list func() []Variant[New]) component {
	c := component{name: name, constructor: reflect.TypeFor[New]()}
	for _, v := range list() {
		c.own = append(c.own, v.Name)
	}
	return c
}

var typeArguments = regexp.MustCompile(`(\w)\[[^\[\]]*\]`)

// withoutArguments is a type's text without type arguments, so that a queue of
// any key is a queue.
func withoutArguments(t reflect.Type) string {
	for s := t.String(); ; {
		shorter := typeArguments.ReplaceAllString(s, "$1")
		if shorter == s {
			return s
		}
		s = shorter
	}
}
