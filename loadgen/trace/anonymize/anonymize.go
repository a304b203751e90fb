// Package anonymize hides who a recording is about and keeps how it behaves.
// Its steps, in order:
//
//  1. A [Key] is secret; the same key hides the same name in the same way, in
//     every recording.
//  2. Every string of an object, and every key of its maps, is hidden unless it
//     belongs to Kubernetes itself (words.go): field names, kinds, phases,
//     well-known labels. Numbers, times and resource quantities stay.
//  3. A string is hidden token by token (cipher.go): letters become letters,
//     digits digits, punctuation stays. So lengths stay, different names stay
//     different, and "web-7c9" is still a prefix of "web-7c9-x2x".
//  4. The object is rewritten in place (rewrite.go), managedFields too, so that
//     sizes stay to the byte.
//
// What stays visible: lengths, punctuation, times, numbers, which names are
// equal, and how often each occurs.
package anonymize

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informerbench/informerbench/loadgen/trace"
)

// A Key hides names. It is at least 16 bytes.
type Key []byte

// NewKey returns a random key. Names that it hid can't be hidden alike again
// unless it is kept.
func NewKey() (Key, error) {
	key := make([]byte, 32)
	_, err := rand.Read(key)
	return key, err
}

// maxKey bounds a key, so that a wrong path, such as a device's, is no long wait.
const maxKey = 1 << 20

// ReadKey reads a key from a file, all of it but white space at its end.
func ReadKey(path string) (Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxKey {
		return nil, fmt.Errorf("%s: is larger than %d KiB, expected a key of 16 bytes or more", path, maxKey>>10)
	}
	key := bytes.TrimRight(data, " \t\r\n")
	if len(key) < 16 {
		return nil, fmt.Errorf("%s: found a key of %d bytes, expected 16 or more", path, len(key))
	}
	return key, nil
}

// An Anonymizer hides the names in records.
type Anonymizer struct {
	cipher *cipher
	out    []byte
}

// New returns an anonymizer with the key.
func New(key Key) (*Anonymizer, error) {
	if len(key) < 16 {
		return nil, errors.New("found a key of fewer than 16 bytes")
	}
	return &Anonymizer{cipher: newCipher(key)}, nil
}

// Record hides the names in a record. Its object is then valid until the next
// call.
func (a *Anonymizer) Record(r *trace.Record) error {
	w := rewriter{cipher: a.cipher, in: r.Object, out: a.out[:0]}
	w.foreign = isForeign(r.APIVersion, r.Kind)
	if err := w.value(context{}); err != nil {
		return err
	}
	if w.space(); w.pos < len(w.in) { // white space behind it is kept, anything else may tell
		return errSyntax
	}
	a.out = w.out
	r.Object = w.out
	r.Resource = a.resource(r.Resource)
	r.Name, r.Namespace = w.hideValue(context{}, r.Name), w.hideValue(context{}, r.Namespace)
	return nil
}

// isForeign reports whether a kind is not Kubernetes' own: its very name may
// tell whose it is.
func isForeign(apiVersion, kind string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err != nil || !scheme.Scheme.Recognizes(gv.WithKind(kind)) && gv.Group != "meta.k8s.io"
}

// resource hides the name of a resource that is not Kubernetes' own.
func (a *Anonymizer) resource(name string) string {
	if name == "" || scheme.Scheme.Recognizes(trace.KindOf(name)) {
		return name
	}
	if full, _ := schema.ParseResourceArg(name); full != nil && version.MatchString(full.Version) {
		return a.cipher.hide(full.Resource) + "." + full.Version + "." + a.cipher.hide(full.Group)
	}
	return a.cipher.hide(name)
}
