package anonymize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/loadgen/trace"
	"github.com/informerbench/informerbench/loadgen/trace/summary"
)

var testKey = Key("a key of the tests, not of yours")

func hideObject(t *testing.T, object string) string {
	t.Helper()
	a, err := New(testKey)
	require.NoError(t, err)
	var u unstructured.Unstructured
	require.NoError(t, json.Unmarshal([]byte(object), &u.Object))
	r := trace.Record{Object: []byte(object), APIVersion: u.GetAPIVersion(), Kind: u.GetKind()}
	require.NoError(t, a.Record(&r))
	require.True(t, json.Valid(r.Object), "%s", r.Object)
	require.Len(t, r.Object, len(object))
	return string(r.Object)
}

// identifiers returns what a pod tells about whose it is.
func identifiers(pod *corev1.Pod) []string {
	all := []string{pod.Name, pod.Namespace, pod.GenerateName, string(pod.UID), pod.Spec.NodeName, pod.Spec.ServiceAccountName, pod.Status.PodIP, pod.Status.HostIP}
	for _, labels := range []map[string]string{pod.Labels, pod.Annotations} {
		for key, value := range labels {
			if all = append(all, value); !strings.Contains(key, "kubernetes.io/") && !strings.HasPrefix(key, "pod-template") {
				all = append(all, key)
			}
		}
	}
	for _, owner := range pod.OwnerReferences {
		all = append(all, owner.Name, string(owner.UID))
	}
	for _, c := range pod.Spec.Containers {
		all = append(append(append(all, c.Name, c.Image), c.Command...), c.Args...)
		for _, env := range c.Env {
			all = append(all, env.Name, env.Value)
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		all = append(all, s.ImageID, s.ContainerID)
	}
	return all
}

// No identifier of the recording survives anywhere, and the recording looks the
// same to whoever counts.
func TestSample(t *testing.T) {
	original := map[string]bool{}
	before, after := summary.NewCounter(), summary.NewCounter()
	a, err := New(testKey)
	require.NoError(t, err)
	records, err := trace.Sample()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "hidden.ibt")
	w, err := trace.Create(path)
	require.NoError(t, err)
	var text strings.Builder
	lines := trace.NewJSON(&text)
	for range 500 {
		r, err := records.NextRecord()
		require.NoError(t, err)
		var pod corev1.Pod
		require.NoError(t, json.Unmarshal(r.Object, &pod))
		for _, id := range identifiers(&pod) {
			original[id] = true
		}
		before.Add(r)
		require.NoError(t, a.Record(&r))
		require.NoError(t, lines.Write(r))
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, lines.Close())
	require.NoError(t, w.Close())
	// One pass for all of them: a replacer leaves a text without any as it is.
	var marks []string
	for id := range original {
		if len(id) >= 6 && !isTime(id) && !words[id] { // shorter ones turn up by chance, times stay
			marks = append(marks, id, "\x00"+strings.ToUpper(id)+"\x00")
		}
	}
	require.Greater(t, len(marks)/2, 500)
	scanned := strings.NewReplacer(marks...).Replace(text.String())
	if at := strings.IndexByte(scanned, 0); at >= 0 {
		t.Fatalf("an identifier survived: %.200q", scanned[max(0, at-60):])
	}

	hidden, err := trace.Open(path)
	require.NoError(t, err)
	defer hidden.Close()
	for {
		r, err := hidden.NextRecord()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		var pod corev1.Pod
		require.NoError(t, json.Unmarshal(r.Object, &pod))
		require.False(t, original[pod.Namespace], "%q", pod.Namespace)
		after.Add(r)
	}
	require.NoError(t, hidden.Cut())
	require.Equal(t, before.Summary(), after.Summary(), "info is the same")
}

func TestWhatStays(t *testing.T) {
	object := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-7c9-x2x","namespace":"shop","resourceVersion":"12","creationTimestamp":"2026-11-20T20:55:47Z","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7c9"},{"apiVersion":"acme.example/v1","kind":"Rocket","name":"r"}],` +
		`"labels":{"app":"web","app.kubernetes.io/name":"web","pod-template-hash":"7c9"},` +
		`"managedFields":[{"manager":"kube-controller-manager","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{}}},"f:finalizers":{"v:\"shop\"":{}}}}}]},` +
		`"spec":{"containers":[{"name":"web","image":"registry.example.com/shop/web:1.2","resources":{"limits":{"cpu":"100m","memory":"1Gi","example.com/gpu":"2"}}}],"nodeName":"node-17"},"status":{"phase":"Running","podIP":"10.1.2.3","conditions":[{"type":"Ready","status":"True"}]}}`
	hidden := hideObject(t, object)
	var was, is corev1.Pod
	require.NoError(t, json.Unmarshal([]byte(object), &was))
	require.NoError(t, json.Unmarshal([]byte(hidden), &is), "it is still a pod")
	require.Equal(t, was.ResourceVersion, is.ResourceVersion)
	require.Equal(t, was.CreationTimestamp, is.CreationTimestamp)
	require.Equal(t, was.Status.Phase, is.Status.Phase)
	require.Equal(t, was.Status.Conditions, is.Status.Conditions)
	require.Equal(t, was.Spec.Containers[0].Resources.Limits.Cpu(), is.Spec.Containers[0].Resources.Limits.Cpu())
	require.Equal(t, was.OwnerReferences[0].Kind, is.OwnerReferences[0].Kind)
	require.NotEqual(t, was.OwnerReferences[1].Kind, is.OwnerReferences[1].Kind, "an operator of their own")
	for _, name := range []string{"web", "shop", "acme", "Rocket", "7c9", "example", "registry", "node-17", `"app"`, "f:app\"", "10.1.2.3"} {
		require.NotContains(t, hidden, name)
	}
	web := is.Labels["app.kubernetes.io/name"]
	require.True(t, strings.HasPrefix(is.Name, web+"-"+is.Labels["pod-template-hash"]), "names keep their parts")
	require.Equal(t, web, is.Spec.Containers[0].Name)
	require.True(t, net.ParseIP(is.Status.PodIP) != nil, "found %s, expected an address", is.Status.PodIP)
	require.Contains(t, hidden, `k:{\"name\":\"`+web+`\"}`, "managedFields agree with the object")
}

func TestForeignKinds(t *testing.T) {
	hidden := hideObject(t, `{"apiVersion":"acme.example/v1beta1","kind":"Rocket","metadata":{"name":"saturn"},"spec":{"replicas":3,"customers":{"alice":true}}}`)
	for _, name := range []string{"acme", "Rocket", "saturn", "customers", "alice"} {
		require.NotContains(t, hidden, name)
	}
	require.Contains(t, hidden, `/v1beta1"`)
	require.Contains(t, hidden, `"spec":{"replicas":3`)
}

// Whoever names a field of theirs fieldsV1 may put anything into it.
func TestForeignFieldsV1(t *testing.T) {
	hidden := hideObject(t, `{"apiVersion":"acme.example/v1","kind":"Rocket","metadata":{"name":"saturn"},"spec":{"fieldsV1":{"alice":1,"i:bob":{},"i:0":{},".":{},"f:carol":["dave"],"q:erin":{}}}}`)
	for _, name := range []string{"alice", "bob", "carol", "dave", "erin"} {
		require.NotContains(t, hidden, name)
	}
	require.Contains(t, hidden, `"i:0":{},".":{}`, "an index and a field itself tell nothing")
}

// What is no quantity or resource version is hidden, whatever its field is called.
func TestNoQuantities(t *testing.T) {
	hidden := hideObject(t, `{"apiVersion":"acme.example/v1","kind":"Rocket","metadata":{"name":"saturn","resourceVersion":"17"},"spec":{"default":"10.1.2.3","limits":{"x":"1.5Gi","y":"10.20.30.40","z":".5","v":"1e3"},"resourceVersion":"alice"}}`)
	for _, name := range []string{"10.1.2.3", "10.20.30.40", "alice"} {
		require.NotContains(t, hidden, name)
	}
	for _, kept := range []string{`"17"`, `"1.5Gi"`, `".5"`, `"1e3"`} {
		require.Contains(t, hidden, kept)
	}
}

// What follows an object is white space or an error: it might tell a name.
func TestBehindTheObject(t *testing.T) {
	require.Equal(t, "{}", strings.TrimSpace(hideObject(t, " {} \n\t")))
	a, err := New(testKey)
	require.NoError(t, err)
	require.ErrorIs(t, a.Record(&trace.Record{Object: []byte(`{} {"name":"web"}`)}), errSyntax)
}

// Strings written with escapes keep their length, and are hidden as without.
func TestEscapes(t *testing.T) {
	a := hideObject(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\u00e9\ud83d\ude00\"\\\n\u003cb\/ü"}}`)
	b := hideObject(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"aé😀\"\\\u000a<b/ü"}}`)
	var x, y corev1.Pod
	require.NoError(t, json.Unmarshal([]byte(a), &x))
	require.NoError(t, json.Unmarshal([]byte(b), &y))
	require.Equal(t, x.Name, y.Name)
	require.NotContains(t, x.Name, "é")
}

// The cipher is a permutation: it keeps the shape, and what differs stays so.
func TestCipher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCipher(testKey)
		s := rapid.StringMatching(`[a-c0-1A-B.é-]{0,4}`).Draw(t, "s")
		u := rapid.StringMatching(`[a-c0-1A-B.é-]{0,4}`).Draw(t, "u")
		x, y := c.hide(s), c.hide(u)
		if len(x) != len(s) || !utf8.ValidString(x) || (s == u) != (x == y) {
			t.Fatalf("%q becomes %q, %q becomes %q", s, x, u, y)
		}
	})
	c, seen := newCipher(testKey), map[string]bool{}
	for i := range 10_000 {
		seen[c.hide(fmt.Sprintf("%04d", i))] = true
	}
	require.Len(t, seen, 10_000, "all numbers of four digits become different ones")
	require.NotEqual(t, newCipher(Key("another key of the tests, really")).hide("storefront"), c.hide("storefront"))
}

func TestKeys(t *testing.T) {
	a, err := NewKey()
	require.NoError(t, err)
	b, err := NewKey()
	require.NoError(t, err)
	require.NotEqual(t, a, b)
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, []byte("0123456789abcdef\n"), 0o600))
	key, err := ReadKey(path)
	require.NoError(t, err)
	require.Len(t, key, 16)
	require.NoError(t, os.WriteFile(path, []byte("short\n"), 0o600))
	_, err = ReadKey(path)
	require.EqualError(t, err, path+": found a key of 5 bytes, expected 16 or more")
	_, err = New(Key("short"))
	require.Error(t, err)
}

// FuzzRecord: whatever JSON an object is, it stays JSON of the same length.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\u00e9\"","managedFields":[{"fieldsV1":{"k:{\"a\":1}":{},"v:7":{}}}]}}`))
	f.Add([]byte(`{"a":[1,-2e3,true,null,"5m"]}`))
	f.Add([]byte(" {} \n"))
	f.Add([]byte("0   "))
	f.Fuzz(func(t *testing.T, object []byte) {
		a, err := New(testKey)
		require.NoError(t, err)
		r := trace.Record{Object: object}
		if err := a.Record(&r); err != nil || !json.Valid(object) || !utf8.Valid(object) {
			return
		}
		require.True(t, json.Valid(r.Object), "%s", r.Object)
		require.Len(t, r.Object, len(object), "%s", r.Object)
	})
}

func BenchmarkRecord(b *testing.B) {
	a, err := New(testKey)
	require.NoError(b, err)
	records, err := trace.Sample()
	require.NoError(b, err)
	var all []trace.Record
	for range 100 {
		r, err := records.NextRecord()
		require.NoError(b, err)
		r.Object = []byte(string(r.Object))
		all = append(all, r)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		r := all[random.IntN(len(all))]
		if err := a.Record(&r); err != nil {
			b.Fatal(err)
		}
	}
}
