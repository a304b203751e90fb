package feed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/informerbench/informerbench/bench/memory/fields"
)

// A prepared kind has its sample with marks, and as templates in each encoding that
// was asked for.
type prepared struct {
	Kind
	marked, named []tree

	mu      sync.Mutex
	encoded map[encoding][]template
}

// A Cache keeps the templates of whole samples for the servers that come after. The
// zero value is empty.
type Cache struct {
	mu    sync.Mutex
	kinds map[*byte]*prepared // by where the sample's first object is
}

// prepare makes templates of a kind, or takes those that are known.
func (o Options) prepare(k Kind) (*prepared, error) {
	if o.Cache == nil || len(o.Remove) > 0 || len(k.Sample) == 0 || len(k.Sample[0]) == 0 {
		return prepare(k, o.Remove)
	}
	o.Cache.mu.Lock()
	defer o.Cache.mu.Unlock()
	place := &k.Sample[0][0]
	if known := o.Cache.kinds[place]; known != nil && len(known.named) == len(k.Sample) {
		return known, nil
	}
	made, err := prepare(k, nil)
	if err == nil {
		if o.Cache.kinds == nil {
			o.Cache.kinds = map[*byte]*prepared{}
		}
		o.Cache.kinds[place] = made
	}
	return made, err
}

func prepare(k Kind, remove []fields.Path) (*prepared, error) {
	made := &prepared{Kind: k, encoded: map[encoding][]template{}}
	var err error
	if made.marked, made.named, err = trees(k, remove); err != nil {
		return nil, err
	}
	if made.typed() {
		err = made.check()
	}
	return made, err
}

// check decodes the sample, so that a fault is an error here and not in a client.
func (k *prepared) check() error {
	for i, o := range k.named {
		if _, err := k.decode(o, encoding{}); err != nil {
			var x struct {
				Metadata struct{ Namespace, Name string }
			}
			_ = json.Unmarshal(k.Sample[i], &x) // it was decoded before
			name := cmp.Or(strings.TrimPrefix(x.Metadata.Namespace+"/"+x.Metadata.Name, "/"), fmt.Sprintf("number %d of the sample", i+1))
			return fmt.Errorf("%s %s: %s", k.Kind.Kind, name, misfit(err))
		}
	}
	return nil
}

var ofGo = regexp.MustCompile(`json: cannot unmarshal (.+) into Go struct field \w+\.(\S+) of type (\S+)$`)

// misfit names the field of an object that its type can't hold.
func misfit(err error) string {
	if m := ofGo.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("%s: found a JSON %s, expected a %s", m[2], m[1], m[3])
	}
	return err.Error()
}
