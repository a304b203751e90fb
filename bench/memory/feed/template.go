// Package feed is an API server as far as memory goes: it serves more objects than
// it has, encoded as a real server encodes them, so that a client decodes what it
// would decode in production. Its steps, in order:
//
//  1. [New] takes a sample of each kind, and how many to serve. Each object of the
//     sample is encoded once into a template (template.go); the strings that only
//     it has, such as its name, end in a mark.
//  2. An object is a template with its number in the place of the marks: objects are
//     as long as those of the sample, and no two share a name.
//  3. Lists, pages and watches (serve.go) are written object by object in JSON,
//     protobuf or CBOR (encode.go): nothing is held but the templates.
//  4. POST /churn changes objects, POST /expire ends all watches with 410, so that
//     clients list again.
package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/bench/memory/fields"
)

// A Kind is what to serve of one kind.
type Kind struct {
	schema.GroupVersionKind
	Resource   string
	Namespaced bool
	Sample     [][]byte // JSON of objects
	Count      int      // objects to serve
}

// A template is an object in one encoding.
type template struct {
	namespace string
	bytes     []byte
	marks     []int // where the object's number goes, in base 36
	versions  []int // where its resource version goes
}

// Marks are of a byte that no encoding escapes and no name has.
var (
	mark        = bytes.Repeat([]byte{0x7f}, 6)
	versionMark = bytes.Repeat([]byte{0x7f}, 10)
)

// firstVersion has as many digits as its mark.
const firstVersion = 1_000_000_000

// write appends the object of that number and resource version.
func (t *template) write(to []byte, number int, version int64) []byte {
	at := len(to)
	to = append(to, t.bytes...)
	for _, m := range t.marks {
		place := to[at+m : at+m+len(mark)]
		n := number
		for i := len(place) - 1; i >= 0; i-- {
			place[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[n%36]
			n /= 36
		}
	}
	for _, m := range t.versions {
		strconv.AppendInt(to[:at+m], version, 10) // exactly over its mark
	}
	return to
}

// find takes the marks' places out of the bytes.
func (t *template) find() {
	for i := 0; i < len(t.bytes); i++ {
		switch rest := t.bytes[i:]; {
		case bytes.HasPrefix(rest, versionMark):
			t.versions = append(t.versions, i)
			i += len(versionMark) - 1
		case bytes.HasPrefix(rest, mark):
			t.marks = append(t.marks, i)
			i += len(mark) - 1
		}
	}
}

// A tree is an object as JSON has it.
type tree = map[string]any

// trees are the objects of a kind without the removed parts, with marks.
func trees(k Kind, remove []fields.Path) (marked, named []tree, err error) {
	var parsed []tree
	counts := map[string]int{}
	for i, b := range k.Sample {
		var o tree
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&o); err != nil {
			return nil, nil, fmt.Errorf("object %d of %s: %w", i+1, k.Kind, err)
		}
		plainNumbers(o)
		for _, p := range remove {
			p.Drop(o)
		}
		o["kind"], o["apiVersion"] = k.Kind, k.GroupVersion().String()
		seen := map[string]bool{}
		each(o, func(s string) string {
			if !seen[s] {
				seen[s] = true
				counts[s]++
			}
			return s
		})
		parsed = append(parsed, o)
	}
	for _, o := range parsed {
		plain := each(o, func(s string) string { return s }).(tree)
		nameIt(plain)
		named = append(named, plain)
		full := each(o, func(s string) string {
			if counts[s] == 1 && markable(s) && len(parsed) > 1 {
				return s[:len(s)-len(mark)] + string(mark)
			}
			return s
		}).(tree)
		nameIt(full)
		marked = append(marked, full)
	}
	return marked, named, nil
}

// nameIt marks what has to differ between any two objects.
func nameIt(o tree) {
	meta, ok := o["metadata"].(tree)
	if !ok {
		meta = tree{}
		o["metadata"] = meta
	}
	for _, field := range []string{"name", "uid"} {
		s, _ := meta[field].(string)
		if field == "uid" && s == "" {
			continue
		}
		meta[field] = s[:max(0, len(s)-len(mark))] + string(mark)
	}
	meta["resourceVersion"] = string(versionMark)
}

// quantity matches what may be a number with a unit, which a mark would break.
var quantity = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([a-zA-Z]{1,2}|e[0-9]+)?$`)

// shortestMarked strings still differ by more than their mark.
const shortestMarked = 8

func markable(s string) bool {
	if len(s) < shortestMarked || len(s) >= 4096 || quantity.MatchString(s) {
		return false
	}
	for _, r := range s[len(s)-len(mark):] {
		if r >= 0x80 { // half a letter is no UTF-8
			return false
		}
	}
	_, err := time.Parse(time.RFC3339Nano, s)
	return err != nil
}

// each copies a tree with its strings changed; the keys of maps and what says who
// manages which field stay.
func each(value any, change func(string) string) any {
	switch v := value.(type) {
	case string:
		return change(v)
	case tree:
		c := make(tree, len(v))
		for key, item := range v {
			if key == "fieldsV1" {
				c[key] = item
			} else {
				c[key] = each(item, change)
			}
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, item := range v {
			c[i] = each(item, change)
		}
		return c
	}
	return value
}

// plainNumbers makes numbers what Kubernetes' own decoders make of them.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case tree:
		for key, item := range v {
			v[key] = plainNumbers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = plainNumbers(item)
		}
	}
	return value
}
