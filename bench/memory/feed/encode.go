package feed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/client-go/kubernetes/scheme"
)

// An encoding is what a client has asked for: the media type, and whether it wants
// the metadata alone.
type encoding struct {
	media    string
	metaOnly bool
}

const (
	mediaJSON     = "application/json"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
	mediaCBOR     = "application/cbor"
)

// accepted reads the header Accept as far as Kubernetes' clients write it.
func accepted(header string) encoding {
	e := encoding{media: mediaJSON, metaOnly: strings.Contains(header, "as=PartialObjectMetadata")}
	switch {
	case strings.Contains(header, mediaCBOR):
		e.media = mediaCBOR
	case strings.HasPrefix(header, mediaProtobuf):
		e.media = mediaProtobuf
	}
	return e
}

type message interface{ Marshal() ([]byte, error) }

// templates encodes a kind's objects. Where a mark is in a place that may not have
// it, the object is marked in its names alone.
func (k *prepared) templates(e encoding) ([]template, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.encoded[e]; known != nil {
		return known, nil
	}
	list := make([]template, len(k.marked))
	for i := range list {
		b, err := k.encode(k.marked[i], e)
		if err != nil {
			b, err = k.encode(k.named[i], e)
		}
		if err != nil {
			return nil, fmt.Errorf("object %d of %s: %w", i+1, k.Kind.Kind, err)
		}
		meta, _ := k.named[i]["metadata"].(tree)
		namespace, _ := meta["namespace"].(string)
		list[i] = template{namespace: namespace, bytes: b}
		list[i].find()
	}
	k.encoded[e] = list
	return list, nil
}

func (k *prepared) encode(o tree, e encoding) ([]byte, error) {
	if e.metaOnly {
		o = tree{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o["metadata"]}
	}
	switch e.media {
	case mediaProtobuf:
		object, err := k.decode(o, e)
		if err != nil {
			return nil, err
		}
		m, ok := object.(message)
		if !ok {
			return nil, fmt.Errorf("found a kind without protobuf, expected --encoding json")
		}
		return m.Marshal()
	case mediaCBOR:
		return direct.Marshal(o)
	}
	if k.typed() && !e.metaOnly { // a list of known types leaves kind and version to itself
		short := make(tree, len(o))
		for key, v := range o {
			if key != "kind" && key != "apiVersion" {
				short[key] = v
			}
		}
		o = short
	}
	var b bytes.Buffer
	d := json.NewEncoder(&b)
	d.SetEscapeHTML(false)
	err := d.Encode(o)
	return bytes.TrimSpace(b.Bytes()), err
}

// decode makes the typed object of a tree.
func (k *prepared) decode(o tree, e encoding) (runtime.Object, error) {
	var object runtime.Object = &metav1.PartialObjectMetadata{}
	if !e.metaOnly {
		var err error
		if object, err = scheme.Scheme.New(k.GroupVersionKind); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return object, json.Unmarshal(b, object)
}

// typed says whether client-go has a type for the kind.
func (k *prepared) typed() bool { return scheme.Scheme.Recognizes(k.GroupVersionKind) }

// typeMeta is what an object says of itself.
func (k *prepared) typeMeta(e encoding, suffix string) (name, version string) {
	if e.metaOnly {
		return "PartialObjectMetadata" + suffix, "meta.k8s.io/v1"
	}
	return k.Kind.Kind + suffix, k.GroupVersion().String()
}

// listHead is what comes before the items of a list, of which there are n of that
// many bytes each in all.
func (k *prepared) listHead(e encoding, meta metav1.ListMeta, sizes func(yield func(int))) ([]byte, error) {
	name, version := k.typeMeta(e, "List")
	switch e.media {
	case mediaProtobuf:
		m, err := meta.Marshal()
		if err != nil {
			return nil, err
		}
		head := append(binary.AppendUvarint([]byte{0x0a}, uint64(len(m))), m...)
		total := len(head)
		sizes(func(n int) { total += len(itemHead(e, n, 0)) + n })
		return append(envelope(name, version, total), head...), nil
	case mediaCBOR:
		n := 0
		sizes(func(int) { n++ })
		b := []byte{0xd9, 0xd9, 0xf7, 0xa4}
		for _, pair := range [][2]any{{"kind", name}, {"apiVersion", version}, {"metadata", meta}} {
			for _, part := range pair {
				encoded, err := direct.Marshal(part)
				if err != nil {
					return nil, err
				}
				b = append(b, bytes.TrimPrefix(encoded, []byte{0xd9, 0xd9, 0xf7})...)
			}
		}
		b = append(b, 0x45)
		b = append(b, "items"...)
		return cborHead(b, 0x80, n), nil
	}
	m, err := json.Marshal(meta)
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":%s,"items":[`, name, version, m), err
}

// itemHead is what comes before an item of n bytes.
func itemHead(e encoding, n, before int) []byte {
	switch {
	case e.media == mediaProtobuf:
		return binary.AppendUvarint([]byte{0x12}, uint64(n))
	case e.media == mediaJSON && before > 0:
		return []byte{','}
	}
	return nil
}

func listEnd(e encoding) string {
	if e.media == mediaJSON {
		return "]}\n"
	}
	return ""
}

// envelope is what protobuf has before an object of n bytes.
func envelope(kind, version string, n int) []byte {
	types := runtime.TypeMeta{APIVersion: version, Kind: kind}
	t, _ := types.Marshal() // strings can always be written
	b := append([]byte("k8s\x00"), 0x0a)
	b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	return binary.AppendUvarint(append(b, 0x12), uint64(n))
}

func cborHead(b []byte, major byte, n int) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
}

// frame writes a watch event around an object.
func (k *kind) frame(w io.Writer, e encoding, event string, object []byte) error {
	var b []byte
	switch e.media {
	case mediaProtobuf:
		name, version := k.typeMeta(e, "")
		if event == "ERROR" {
			name, version = "Status", "v1"
		}
		head := envelope(name, version, len(object))
		raw := binary.AppendUvarint([]byte{0x0a}, uint64(len(head)+len(object)))
		inner := append([]byte{0x0a, byte(len(event))}, event...)
		inner = binary.AppendUvarint(append(inner, 0x12), uint64(len(raw)+len(head)+len(object)))
		b = binary.BigEndian.AppendUint32(nil, uint32(len(inner)+len(raw)+len(head)+len(object)))
		b = append(append(append(append(b, inner...), raw...), head...), object...)
	case mediaCBOR:
		// The object is told apart from JSON by its tag.
		b = append([]byte{0xd9, 0xd9, 0xf7, 0xa2, 0x44}, "type"...)
		b = append(cborHead(b, 0x40, len(event)), event...)
		b = append(append(b, 0x46), "object"...)
		b = append(b, object...)
	default:
		b = fmt.Appendf(nil, `{"type":%q,"object":`, event)
		if k.typed() && !e.metaOnly && event != "ERROR" && event != "BOOKMARK" {
			name, version := k.typeMeta(e, "")
			b = fmt.Appendf(b, `{"kind":%q,"apiVersion":%q,`, name, version)
			object = object[1:]
		}
		b = append(append(b, object...), "}\n"...)
	}
	_, err := w.Write(b)
	return err
}

// other encodes an object that is not of the sample: a bookmark or a status.
func (k *kind) other(o tree, e encoding, status bool) ([]byte, error) {
	switch e.media {
	case mediaCBOR:
		return direct.Marshal(o)
	case mediaJSON:
		return json.Marshal(o)
	}
	var object runtime.Object = &metav1.Status{}
	if !status {
		return k.encode(o, e)
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, object); err != nil {
		return nil, err
	}
	return object.(message).Marshal()
}
