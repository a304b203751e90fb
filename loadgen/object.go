package loadgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// An objectMaker makes the objects of every kind but pods.
type objectMaker struct {
	*stamp
	*population
	identity
	payload
	first   uint64 // resource version of the first object
	model   model
	objects []Object // by key, nil until the first event
}

// A model is what a kind's objects look like.
type model interface {
	// meta sets the name, the namespace and what else belongs to the object.
	meta(m *metav1.ObjectMeta, e entity)
	// create makes an object; key is the one it has now.
	create(meta metav1.ObjectMeta, key uint32, e entity, payload string) Object
	// renew returns a copy that may be written to, changed as the draw says.
	renew(old Object, d draw) Object
}

// initial implements maker.
func (m *objectMaker) initial(key uint32) Object {
	now, version := m.now, m.version
	defer func() { m.now, m.version = now, version }()
	m.now, m.version = m.moments.at(0), m.first+uint64(key)
	return m.create(key, entity{birth: key, group: key % uint32(m.groups)})
}

func (m *objectMaker) create(key uint32, e entity) Object {
	meta := metav1.ObjectMeta{UID: m.uid(e.birth), CreationTimestamp: m.now.time, ResourceVersion: m.resourceVersion()}
	m.model.meta(&meta, e)
	return m.model.create(meta, key, e, m.text(m.identity, e.birth))
}

// change implements maker.
func (m *objectMaker) change(d draw) Object {
	for int(d.key) >= len(m.objects) {
		m.objects = append(m.objects, nil)
	}
	if d.stage == pending {
		m.objects[d.key] = m.create(d.key, m.entities[d.key])
		return m.objects[d.key]
	}
	old := m.objects[d.key]
	if old == nil {
		old = m.initial(d.key)
	}
	next := m.model.renew(old, d)
	next.SetResourceVersion(m.resourceVersion())
	m.objects[d.key] = next
	if d.stage == deleted {
		m.objects[d.key] = nil
	}
	return next
}

// filler is what fills objects up to their size. They share it, so that a large
// object costs no more to make than a small one.
var filler = sync.OnceValue(func() string { return strings.Repeat("0123456789abcdef", maxSize/16) })

// payloadKey is the annotation that holds it.
const payloadKey = "example.com/payload"

// A payload fills objects up to the sizes that a resource asks for.
type payload struct {
	size randvar.Dist
	bare int // bytes of an object with an empty payload
}

// measure sees how large an object is by itself. The first object of the
// initial population stands for all.
func (p *payload) measure(r *Resource, m maker) error {
	if r.Size.IsZero() {
		return nil
	}
	object := m.initial(0)
	b, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	p.size, p.bare = r.Size, len(b)
	if r.Kind != kindCustom { // its payload has a field of its own
		p.bare += len(`,"":""`) + len(payloadKey)
		if len(object.GetAnnotations()) == 0 {
			p.bare += len(`"annotations":{}`)
		}
	}
	return nil
}

// text is the payload of the object of that birth: the same at any time.
func (p *payload) text(id identity, birth uint32) string {
	if p.size.IsZero() {
		return ""
	}
	size := p.size.Sample(rand.New(rand.NewPCG(id.hash(uint64(birth)), 0x512e)))
	return filler()[:max(0, int(min(size, maxSize))-p.bare)]
}

// annotate adds the payload to an object's annotations, which others may share.
func annotate(m *metav1.ObjectMeta, payload string) {
	if payload == "" {
		return
	}
	all := map[string]string{payloadKey: payload}
	maps.Copy(all, m.Annotations)
	m.Annotations = all
}
