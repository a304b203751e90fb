package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An auditLine is a request to pods of namespace n, unless it says otherwise.
type auditLine struct {
	verb, resource, name, sub, uri, stage, body string
	code                                        int
}

// auditText writes the lines of a log, one a second.
func auditText(lines ...auditLine) string {
	var text strings.Builder
	for i, l := range lines {
		or := func(s, byDefault string) string {
			if s == "" {
				return byDefault
			}
			return s
		}
		if l.code == 0 {
			l.code = 200
		}
		group, version := "", "v1"
		if l.resource == "deployments" {
			group = "apps"
		}
		fmt.Fprintf(&text, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":%q,"requestURI":%q,"verb":%q,`+
			`"objectRef":{"resource":%q,"namespace":"n","name":%q,"subresource":%q,"apiGroup":%q,"apiVersion":%q},"responseStatus":{"metadata":{},"code":%d},`+
			`"requestReceivedTimestamp":"2026-01-01T00:00:00.000000Z","stageTimestamp":"2026-01-01T00:00:%02d.500000Z"%s}`+"\n",
			or(l.stage, "ResponseComplete"), or(l.uri, "/x"), l.verb, or(l.resource, "pods"), l.name, l.sub, group, version, l.code, i, l.body)
	}
	return text.String()
}

func TestAudit(t *testing.T) {
	cases := []struct {
		name    string
		lines   []auditLine
		want    []string
		skipped map[string]int
	}{
		{"a pod's life: the second delete is the kubelet's", []auditLine{
			{verb: "create", name: "a", code: 201}, {verb: "create", sub: "binding", name: "a", code: 201}, {verb: "patch", sub: "status", name: "a"},
			{verb: "delete", name: "a"}, {verb: "delete", name: "a"},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2", "MODIFIED n/a@3", "MODIFIED n/a@4", "MODIFIED n/a@5", "DELETED n/a@6"}, nil},
		{"what is no pod is gone at once; what comes after is finalizers' work", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "delete", resource: "deployments", name: "a"}, {verb: "update", resource: "deployments", name: "a"},
		}, []string{"ADDED n/a@1", "DELETED n/a@2"}, map[string]int{"changes after the delete": 1}},
		{"a name that comes again", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "delete", resource: "deployments", name: "a"}, {verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "update", resource: "deployments", name: "a"},
		}, []string{"ADDED n/a@1", "DELETED n/a@2", "ADDED n/a@3", "MODIFIED n/a@4"}, nil},
		{"creates without a name take over the names that are bound, oldest first", []auditLine{
			{verb: "create", code: 201}, {verb: "create", code: 201}, {verb: "patch", sub: "status", name: "old"},
			{verb: "create", sub: "binding", name: "x", code: 201}, {verb: "create", sub: "binding", name: "y", code: 201}, {verb: "patch", sub: "status", name: "x"},
		}, []string{"ADDED n/unnamed-1@1", "ADDED n/unnamed-2@2", "ADDED n/old@3", "MODIFIED n/unnamed-1@4", "MODIFIED n/unnamed-2@5", "MODIFIED n/unnamed-1@6"}, nil},
		{"what existed before", []auditLine{{verb: "update", name: "a"}, {verb: "delete", resource: "deployments", name: "d"}},
			[]string{"ADDED n/a@1", "DELETED n/d@2"}, nil},
		{"server-side apply creates", []auditLine{{verb: "patch", name: "a", code: 201}, {verb: "patch", name: "a"}}, []string{"ADDED n/a@1", "MODIFIED n/a@2"}, nil},
		{"deletecollection", []auditLine{
			{verb: "create", resource: "deployments", name: "b", code: 201}, {verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "create", name: "p", code: 201},
			{verb: "deletecollection", resource: "deployments"}, {verb: "deletecollection", uri: "/x?labelSelector=app%3Dweb"},
		}, []string{"ADDED n/b@1", "ADDED n/a@2", "ADDED n/p@3", "DELETED n/a@4", "DELETED n/b@5"}, map[string]int{"deletecollection with a selector": 1}},
		{"what is no change", []auditLine{
			{verb: "update", name: "a"}, {verb: "update", name: "a", code: 409}, {verb: "create", name: "z", code: 403}, {verb: "get", name: "a"}, {verb: "list"}, {verb: "watch"},
			{verb: "update", name: "a", stage: "RequestReceived"}, {verb: "create", sub: "exec", name: "a", code: 201}, {verb: "create", resource: "tokenreviews", code: 201},
			{verb: "update", name: "a", uri: "/x?dryRun=All"}, {verb: "update"},
		}, []string{"ADDED n/a@1"}, map[string]int{
			"failed requests": 2, "reads": 3, "stages before the response": 1, "requests that change no object": 2, "dry runs": 1, "requests for no object": 1,
		}},
		{"a response that holds the object", []auditLine{
			{verb: "create", code: 201, body: `,"responseObject":` + podJSON("generated-x", 7)},
			{verb: "update", sub: "status", name: "generated-x", body: `,"responseObject":` + podJSON("generated-x", 8)},
			{verb: "create", sub: "binding", name: "generated-x", code: 201, body: `,"responseObject":{"kind":"Status","apiVersion":"v1"}`},
		}, []string{"ADDED n/generated-x@7", "MODIFIED n/generated-x@8", "MODIFIED n/generated-x@1"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			events, stats, err := readText(t, auditText(c.lines...))
			require.NoError(t, err)
			require.Equal(t, c.want, brief(events))
			require.Equal(t, len(c.want), stats.Events())
			require.Equal(t, c.skipped, stats.Skipped)
			require.True(t, stats.Timed)
		})
	}
}

func TestAuditObjects(t *testing.T) {
	events, _, err := readText(t, auditText(
		auditLine{verb: "update", resource: "deployments", name: "a"}, auditLine{verb: "get"},
		auditLine{verb: "create", name: "p", code: 201, body: `,"responseObject":` + podJSON("p", 7)}))
	require.NoError(t, err)
	slim := events[0].Object.(*metav1.PartialObjectMetadata)
	require.Equal(t, "apps/v1, Kind=Deployment", slim.GroupVersionKind().String(), "of what it is the metadata")
	require.Equal(t, "n", slim.Namespace)
	require.IsType(t, &corev1.Pod{}, events[1].Object)
	require.Equal(t, 2*time.Second, events[1].At, "the time of the response, whatever was skipped between")
}

func TestAuditErrors(t *testing.T) {
	good := auditText(auditLine{verb: "update", name: "a"})
	_, _, err := readText(t, good+strings.Replace(good, `"2026-01-01T00:00:00.500000Z"`, `"noon"`, 1))
	require.ErrorContains(t, err, `x.json:2: document 2: not an audit event: `)
	_, _, err = readText(t, good+strings.Replace(good, `"stageTimestamp":"2026`, `"stageTimestamp":"0001`, 1))
	require.EqualError(t, err, "x.json:2: document 2: stageTimestamp: found the year 1, expected 1970 to 2200")
	_, _, err = readText(t, auditText(auditLine{verb: "get"}, auditLine{verb: "list"}))
	require.EqualError(t, err, "x.json: no events: the file holds no object; skipped 2 reads")
}
