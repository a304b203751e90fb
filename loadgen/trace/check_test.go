package trace

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects that no API server has, and that what handles objects falls over, are
// refused on reading, with the place.
func TestInvalidObjects(t *testing.T) {
	object := func(apiVersion, kind, namespace, name, version string) string {
		return `{"apiVersion":` + strconv.Quote(apiVersion) + `,"kind":` + strconv.Quote(kind) + `,"metadata":{"namespace":` + strconv.Quote(namespace) +
			`,"name":` + strconv.Quote(name) + `,"resourceVersion":` + strconv.Quote(version) + `}}`
	}
	good := eventJSON("ADDED", podJSON("a", 1)) + "\n"
	for text, want := range map[string]string{
		object("v1", "Pod/x", "n", "a", "1"):        `kind: found "Pod/x", expected letters, digits and -, such as Pod`,
		object("v1", "Pod x", "n", "a", "1"):        `kind: found "Pod x"`,
		object("v1", "7", "n", "a", "1"):            `kind: found "7"`,
		object("v1", "", "n", "a", "1"):             `an object without kind`,
		object("", "Pod", "n", "a", "1"):            `Pod without apiVersion`,
		object("a/b/c", "Pod", "n", "a", "1"):       `apiVersion: found "a/b/c", expected GROUP/VERSION or VERSION`,
		object("x/", "Pod", "n", "a", "1"):          `apiVersion: found the version ""`,
		object("v 1", "Pod", "n", "a", "1"):         `apiVersion: found the version "v 1"`,
		object("ex ample/v1", "Pod", "n", "a", "1"): `apiVersion: found the group "ex ample"`,
		object("v1", "Pod", "n", "a/b", "1"):        `metadata.name: found "a/b", expected a name that can be part of a path: it may not contain '/'`,
		object("v1", "Pod", "n/m", "a", "1"):        `metadata.namespace: found "n/m"`,
		object("v1", "Pod", "..", "a", "1"):         `metadata.namespace: found ".."`,
		object("v1", "Pod", "n", ".", "1"):          `metadata.name: found "."`,
		object("v1", "Pod", "n", "a%2fb", "1"):      `metadata.name: found "a%2fb"`,
		object("v1", "Pod", "n", "a\nb", "1"):       `metadata.name: found "a\nb", expected a name that can be part of a path: it may not contain control characters`,
		object("v1", "Pod", "n", "", "1"):           `Pod without metadata.name`,
		object("v1", "Pod", "n", "a", "-1"):         `metadata.resourceVersion: found "-1", expected a version that is not negative`,
	} {
		_, _, err := readText(t, good+eventJSON("ADDED", text))
		require.ErrorContains(t, err, "x.json:2: document 2: "+want, text)
	}
	_, _, err := readText(t, good+strings.Replace(good, `{"type"`, `{"resource":"po/ds","type"`, 1))
	require.ErrorContains(t, err, `x.json:2: document 2: resource: found "po/ds", expected a plural`)
	for text, want := range map[string]string{
		`{"kind":"List","apiVersion":"v1"}`: "x.json:1: document 1: items: missing, expected the objects of the List",
		`{"kind":"List","apiVersion":"v1","items":[{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[` + podJSON("a", 1) + `]}]}`: "x.json:1: document 1: found a PodList within a list, which isn't read",
		"apiVersion: v1\nkind: List\n": "x.json: found YAML, expected JSON, as kubectl -o json prints it",
		"---\nkind: Pod\n":             "x.json: found YAML",
		`{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","name":"a"},"responseStatus":{"code":201}}`: "stageTimestamp: missing, expected a time",
	} {
		_, _, err := readText(t, text)
		require.ErrorContains(t, err, want, text)
	}
	for _, text := range []string{ // what is loose but there
		object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:node", "1"),
		object("example.com/v1alpha1", "my-Kind2", "n", "Name_With.All~kinds@of#things", "opaque-7"),
		object("x.Example/v1", "widget", "Default", "a b", ""),
		object("v1", "Pod", "n", "ünïcode", "18446744073709551616"),
	} {
		_, _, err := readText(t, eventJSON("ADDED", text))
		require.NoError(t, err, text)
	}
}

func TestResourceOf(t *testing.T) {
	for kind, want := range map[string]string{
		"Gateway": "gateways", "TCPRoute": "tcproutes", "Proxy": "proxies", "ServicePolicy": "servicepolicies", "CiliumEndpoint": "ciliumendpoints",
		"APIKey": "apikeys", "Deploy": "deploys", "Mesh": "meshes", "Prefix": "prefixes", "Batch": "batches", "MyIngress": "myingresses", "Prometheus": "prometheuses",
		"ManagedEndpoints": "managedendpoints", "SecurityContextConstraints": "securitycontextconstraints", "ClusterSettings": "clustersettings",
		"DNS": "dnses", "Alias": "aliases", "Topology": "topologies", "Redis": "redises", "NodeClass": "nodeclasses", "Quay": "quays",
	} {
		got, guessed := ResourceOf(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
		require.Equal(t, want+".example.com", got.String())
		require.True(t, guessed)
	}
	for kind, want := range map[schema.GroupVersionKind]string{
		{Version: "v1", Kind: "Endpoints"}:                                             "endpoints",
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}:                   "ingresses.networking.k8s.io",
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}:             "networkpolicies.networking.k8s.io",
		{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"}: "network-attachment-definitions.k8s.cni.cncf.io",
		{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "PodMetrics"}:              "pods.metrics.k8s.io",
	} {
		got, guessed := ResourceOf(kind)
		require.Equal(t, want, got.String())
		require.False(t, guessed)
		if kind.Group != "metrics.k8s.io" {
			require.Equal(t, kind.Kind, KindOf(want).Kind, "and back")
		}
	}
	for resource, want := range map[string]string{"gateways.x.io": "Gateway", "meshes.x.io": "Mesh", "statuses.x.io": "Status", "policies.x.io": "Policy", "boxes.x.io": "Box"} {
		require.Equal(t, want, KindOf(resource).Kind)
	}
}

// A watch without event types shows a deletion as one more state.
func TestChangesWithoutATypeAreWarnedOf(t *testing.T) {
	for text, want := range map[string]int{
		podJSON("a", 1) + podJSON("b", 2) + podJSON("a", 3) + podJSON("b", 4):        2,
		podJSON("a", 1) + podJSON("b", 2):                                            0,
		eventJSON("ADDED", podJSON("a", 1)) + eventJSON("MODIFIED", podJSON("a", 2)): 0,
	} {
		trace, err := OpenReader("x.json", strings.NewReader(text), Part{})
		require.NoError(t, err)
		_, err = readAll(trace)
		require.NoError(t, err)
		require.Equal(t, want, trace.Stats().Untyped)
		if want == 0 {
			require.Empty(t, trace.Warnings())
			continue
		}
		require.EqualError(t, trace.Warnings()[0], "x.json: 2 changes have no event type, so deletions count as modifications; "+
			"record with kubectl get RESOURCE --watch --output-watch-events -o json to tell them apart")
	}
}
