package fields

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const podJSON = `{"metadata":{"name":"a","annotations":{"a.b/c":"1","d":"2"},"managedFields":[{"manager":"kubectl"}]},
"spec":{"nodeName":"n","containers":[{"name":"x","env":[{"name":"E"}]},{"name":"y","env":[{"name":"F"}]}]},"status":{"phase":"Running","podIP":"1.2.3.4"}}`

var dropped = []string{"metadata.managedFields", "metadata.annotations[a.b/c]", "spec.containers[].env", "status.podIP", "spec.affinity.nodeAffinity", "spec.none"}

// A typed object and a tree lose the same.
func TestDrop(t *testing.T) {
	var pod, want corev1.Pod
	var tree unstructured.Unstructured
	require.NoError(t, json.Unmarshal([]byte(podJSON), &pod))
	require.NoError(t, json.Unmarshal([]byte(podJSON), &tree.Object))
	for _, text := range dropped {
		p, err := Parse(text)
		require.NoError(t, err)
		assert.Equal(t, text, p.String())
		p.Drop(&pod)
		p.Drop(&tree)
	}
	require.NoError(t, json.Unmarshal([]byte(`{"metadata":{"name":"a","annotations":{"d":"2"}},"spec":{"nodeName":"n","containers":[{"name":"x"},{"name":"y"}]},"status":{"phase":"Running"}}`), &want))
	assert.Equal(t, want, pod)
	var left corev1.Pod
	b, err := json.Marshal(tree.Object)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &left))
	assert.Equal(t, want, left)
}

func TestBadPaths(t *testing.T) {
	for _, text := range []string{"", ".a", "a..b", "a[", "[x]", "a]b", "metadata.annotations[a]b", "spec.containers[]", "metadata.name", "kind"} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, "expected a p", text)
	}
}

func TestTransformIsGo(t *testing.T) {
	paths, err := ParseAll(dropped...)
	require.NoError(t, err)
	for _, c := range []struct {
		gvk  schema.GroupVersionKind
		want []string
	}{
		{schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, []string{
			`corev1 "k8s.io/api/core/v1"`, "func SlimPod(", "object.(*corev1.Pod)", "o.SetManagedFields(nil)", `delete(o.ObjectMeta.Annotations, "a.b/c")`,
			"for i := range o.Spec.Containers {", "o.Spec.Containers[i].Env = nil", `o.Status.PodIP = ""`, "if o.Spec.Affinity != nil {"}},
		{schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, []string{
			"object.(*unstructured.Unstructured)", `unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "a.b/c")`, `unstructured.NestedFieldNoCopy(o.Object, "spec", "containers")`}},
	} {
		code, err := Transform(c.gvk, true, paths)
		require.NoError(t, err)
		_, err = parser.ParseFile(token.NewFileSet(), "x.go", code, parser.AllErrors)
		assert.NoError(t, err)
		for _, want := range c.want {
			assert.Contains(t, code, want)
		}
		assert.NotContains(t, code, "spec.none")
	}
	_, err = parser.ParseFile(token.NewFileSet(), "x.go", InternerSource(), parser.AllErrors)
	assert.NoError(t, err)
}

// From the third object on equal strings share their bytes.
func TestInterner(t *testing.T) {
	interner := NewInterner()
	var pods []corev1.Pod
	var trees []unstructured.Unstructured
	for range 3 {
		var pod corev1.Pod
		var tree unstructured.Unstructured
		require.NoError(t, json.Unmarshal([]byte(podJSON), &pod))
		require.NoError(t, json.Unmarshal([]byte(podJSON), &tree.Object))
		_, err := interner.Object(&pod)
		require.NoError(t, err)
		_, err = interner.Object(&tree)
		require.NoError(t, err)
		pods, trees = append(pods, pod), append(trees, tree)
	}
	node := func(i int) *byte {
		s, _, _ := unstructured.NestedString(trees[i].Object, "spec", "nodeName")
		return unsafe.StringData(s)
	}
	assert.Same(t, unsafe.StringData(pods[1].Spec.NodeName), unsafe.StringData(pods[2].Spec.NodeName))
	assert.Same(t, node(1), unsafe.StringData(pods[2].Spec.NodeName))
	assert.Equal(t, "2", pods[2].Annotations["d"])
}
