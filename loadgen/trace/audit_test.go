package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An auditLine is a request to pods of namespace n, unless it says otherwise.
type auditLine struct {
	verb, resource, version, name, sub, uri, stage, user, body string
	code, pause                                                int // seconds until the next, beyond one
}

// auditText writes the lines of a log, one a second.
func auditText(lines ...auditLine) string {
	var text strings.Builder
	at := 0
	for _, l := range lines {
		or := func(s, byDefault string) string {
			if s == "" {
				return byDefault
			}
			return s
		}
		if l.code == 0 {
			l.code = 200
		}
		resource, group, _ := strings.Cut(or(l.resource, "pods"), ".")
		if resource == "deployments" {
			group = "apps"
		}
		fmt.Fprintf(&text, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":%q,"requestURI":%q,"verb":%q,`+
			`"objectRef":{"resource":%q,"namespace":"n","name":%q,"subresource":%q,"apiGroup":%q,"apiVersion":%q},"responseStatus":{"metadata":{},"code":%d},`+
			`"requestReceivedTimestamp":"2026-01-01T00:%02[10]d:%02[11]d.000000Z","stageTimestamp":"2026-01-01T00:%02[10]d:%02[11]d.500000Z","user":{"username":%[12]q}%[13]s}`+"\n",
			or(l.stage, "ResponseComplete"), or(l.uri, "/x"), l.verb, resource, l.name, l.sub, group, or(l.version, "v1"), l.code, at/60, at%60, l.user, l.body)
		at += 1 + l.pause
	}
	return text.String()
}

// deleting is an object that is being deleted, at version 9.
func deleting(kind, name, more string) string {
	return fmt.Sprintf(`{"kind":%q,"apiVersion":"v1","metadata":{"name":%q,"namespace":"n","resourceVersion":"9","deletionTimestamp":"2026-01-01T00:00:00Z",%s}}`, kind, name, more)
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
		{"what is no pod is gone at once", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "delete", resource: "deployments", name: "a"},
		}, []string{"ADDED n/a@1", "DELETED n/a@2"}, nil},
		{"finalizers hold it until a change drops the last of them", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "delete", resource: "deployments", name: "a"},
			{verb: "patch", sub: "status", resource: "deployments", name: "a"}, {verb: "patch", resource: "deployments", name: "a"},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2", "MODIFIED n/a@3", "DELETED n/a@4"}, nil},
		{"a delete that waits for dependents", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "delete", resource: "deployments", name: "a", code: 202},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2"}, nil},
		{"a completed pod takes one delete, which what follows can't hold up for long", []auditLine{
			{verb: "create", name: "a", code: 201}, {verb: "delete", name: "a"}, {verb: "update", name: "b", pause: 120}, {verb: "update", name: "b"},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2", "DELETED n/a@3", "ADDED n/b@4", "MODIFIED n/b@5"}, nil},
		{"an eviction that is followed by nothing", []auditLine{
			{verb: "create", name: "a", code: 201}, {verb: "create", name: "a", sub: "eviction", code: 201},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2", "DELETED n/a@3"}, nil},
		{"a pod whose status changes is still there", []auditLine{
			{verb: "create", name: "a", code: 201}, {verb: "delete", name: "a"}, {verb: "patch", sub: "status", name: "a"},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2", "MODIFIED n/a@3"}, nil},
		{"until a request does not find it, or it comes again", []auditLine{
			{verb: "delete", name: "a"}, {verb: "patch", sub: "status", name: "a"}, {verb: "delete", name: "a", code: 404},
			{verb: "delete", name: "b"}, {verb: "patch", sub: "status", name: "b"}, {verb: "create", name: "b", code: 201},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2", "DELETED n/a@3", "ADDED n/b@4", "MODIFIED n/b@5", "DELETED n/b@6", "ADDED n/b@7"}, map[string]int{"failed requests": 1}},
		{"what the response to a delete tells", []auditLine{
			{verb: "delete", name: "a", body: `,"responseObject":` + deleting("Pod", "a", `"deletionGracePeriodSeconds":30`)},
			{verb: "delete", name: "b", body: `,"responseObject":` + deleting("Pod", "b", `"deletionGracePeriodSeconds":0`)},
			{verb: "delete", name: "c", body: `,"responseObject":` + deleting("Pod", "c", `"deletionGracePeriodSeconds":0,"finalizers":["f"]`)},
			{verb: "patch", name: "c", body: `,"responseObject":` + deleting("Pod", "c", `"deletionGracePeriodSeconds":0`)},
			{verb: "delete", resource: "deployments", name: "d", body: `,"responseObject":{"kind":"Status","apiVersion":"v1","status":"Success"}`},
		}, []string{"ADDED n/a@9", "ADDED n/b@9", "DELETED n/b@9", "ADDED n/c@9", "DELETED n/c@9", "DELETED n/d@1"}, nil},
		{"a deletecollection whose response lists what went", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201},
			{verb: "deletecollection", resource: "deployments", uri: "/x?labelSelector=x", body: `,"responseObject":{"items":[{"metadata":{"name":"a","namespace":"n"}}]}`},
		}, []string{"ADDED n/a@1", "DELETED n/a@2"}, nil},
		{"a deletecollection whose response lists nothing", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "deletecollection", resource: "deployments", body: `,"responseObject":{"kind":"DeploymentList","items":[]}`},
			{verb: "deletecollection", resource: "deployments", uri: "/x?labelSelector=x", body: `,"responseObject":{"kind":"DeploymentList","items":[]}`},
		}, []string{"ADDED n/a@1"}, nil},
		{"a pod without a node, which the scheduler found unschedulable", []auditLine{
			{verb: "create", code: 201}, {verb: "patch", sub: "status", name: "x", user: "system:kube-scheduler"}, {verb: "delete", name: "x"},
		}, []string{"ADDED n/unnamed-1@1", "MODIFIED n/unnamed-1@2", "MODIFIED n/unnamed-1@3", "DELETED n/unnamed-1@4"}, nil},
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
		{"dry runs of which the body alone tells", []auditLine{
			{verb: "create", resource: "deployments", name: "a", code: 201}, {verb: "create", name: "p", code: 201},
			{verb: "delete", resource: "deployments", name: "a", body: `,"requestObject":{"kind":"DeleteOptions","dryRun":["All"]}`},
			{verb: "deletecollection", resource: "deployments", body: `,"requestObject":{"kind":"DeleteOptions","dryRun":["All"]}`},
			{verb: "create", name: "p", sub: "eviction", code: 201, body: `,"requestObject":{"kind":"Eviction","deleteOptions":{"dryRun":["All"]}}`},
			{verb: "update", resource: "deployments", name: "a", body: `,"requestObject":{"dryRun":["All"]}`},
			{verb: "create", name: "p", sub: "eviction", code: 201, body: `,"requestObject":{"kind":"Eviction","deleteOptions":{"gracePeriodSeconds":0}}`},
		}, []string{"ADDED n/a@1", "ADDED n/p@2", "MODIFIED n/a@3", "MODIFIED n/p@4", "DELETED n/p@5"}, map[string]int{"dry runs": 3}},
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

	// Shippers of logs add members of their own, converters leave the version out.
	text := auditText(auditLine{verb: "update", resource: "deployments", name: "a"})
	text = strings.NewReplacer(`,"apiVersion":"v1"}`, "}", `{"kind":"Event"`, `{"input":{"type":"log"},"line":"x","document":"y","kind":"Event"`).Replace(text)
	events, _, err = readText(t, text)
	require.NoError(t, err)
	require.Equal(t, "apps/v1, Kind=Deployment", events[0].Object.GetObjectKind().GroupVersionKind().String())
}

// A resource is of one kind, whether a request was answered with the object, with its
// metadata or with neither, and whatever its plural is.
func TestAuditKinds(t *testing.T) {
	answer := func(apiVersion, kind string) string {
		return fmt.Sprintf(`,"responseObject":{"kind":%q,"apiVersion":%q,"metadata":{"name":"a","namespace":"n","resourceVersion":"7"}}`, kind, apiVersion)
	}
	const custom, hpas = "foobars.example.com", "horizontalpodautoscalers.autoscaling"
	for kind, c := range map[string]struct {
		lines []auditLine
		want  []string
	}{
		"example.com/v1, Kind=FooBar": {[]auditLine{
			{verb: "update", resource: custom, name: "a", sub: "scale"}, {verb: "update", resource: custom, name: "a", body: answer("example.com/v1", "FooBar")},
			{verb: "delete", resource: custom, name: "a", body: `,"responseObject":{"kind":"Status","apiVersion":"v1","status":"Success"}`},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@7", "DELETED n/a@2"}},
		"example.com/v1, Kind=SecGroup": {[]auditLine{
			{verb: "create", resource: "security-groups.example.com", name: "a", code: 201, body: answer("example.com/v1", "SecGroup")},
			{verb: "delete", resource: "security-groups.example.com", name: "a"},
		}, []string{"ADDED n/a@7", "DELETED n/a@1"}},
		"/v1, Kind=Pod": {[]auditLine{
			{verb: "create", name: "a", code: 201}, {verb: "patch", name: "a", body: answer("meta.k8s.io/v1", "PartialObjectMetadata")},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@7"}},
		"autoscaling/v1, Kind=HorizontalPodAutoscaler": {[]auditLine{
			{verb: "create", resource: hpas, name: "a", code: 201}, {verb: "update", resource: hpas, version: "v2", name: "a", sub: "status"},
		}, []string{"ADDED n/a@1", "MODIFIED n/a@2"}},
	} {
		events, stats, err := readText(t, auditText(c.lines...))
		require.NoError(t, err, kind)
		require.Equal(t, c.want, brief(events), kind)
		for _, e := range events {
			require.Equal(t, kind, e.Object.GetObjectKind().GroupVersionKind().String())
		}
		require.Len(t, stats.Kinds, 1)
		require.Empty(t, stats.Guessed, "the log says what a resource is called")
	}
}

func TestAuditErrors(t *testing.T) {
	good := auditText(auditLine{verb: "update", name: "a"})
	_, _, err := readText(t, good+strings.Replace(good, `"2026-01-01T00:00:00.500000Z"`, `"noon"`, 1))
	require.EqualError(t, err, `x.json:2: document 2: not an audit event: stageTimestamp: found "noon", expected a time such as 2006-01-02T15:04:05.999999Z`)
	_, _, err = readText(t, good+strings.Replace(good, `"stageTimestamp":"2026`, `"stageTimestamp":"0001`, 1))
	require.EqualError(t, err, "x.json:2: document 2: stageTimestamp: found the year 1, expected 1970 to 2200")
	for old, c := range map[string][2]string{
		`"code":200`:                 {`"code":"200"`, "responseStatus.code: found string, expected number"},
		`{"username":""}`:            {`"me"`, "user: found string, expected object"},
		`"stage":"ResponseComplete"`: {`"stage":7`, "stage: found number, expected string"},
	} {
		_, _, err = readText(t, good+strings.Replace(good, old, c[0], 1))
		require.EqualError(t, err, "x.json:2: document 2: not an audit event: "+c[1])
	}
	_, _, err = readText(t, auditText(auditLine{verb: "get"}, auditLine{verb: "list"}))
	require.EqualError(t, err, "x.json: no events: the file holds no object; skipped 2 reads")
}

// auditFile writes a part of a log.
func auditFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Several API servers have one state between them: a pod that one created is
// bound by another. Whatever order their logs come in, and if one comes twice,
// the events are those of one log.
func TestAuditOfSeveralServers(t *testing.T) {
	old := spillBytes
	defer func() { spillBytes = old }()
	var lines []auditLine
	for i := range 20 {
		name := fmt.Sprintf("web-%02d", i)
		lines = append(lines, auditLine{verb: "create", code: 201, uri: "/" + name}, auditLine{verb: "create", sub: "binding", name: name, code: 201}, auditLine{verb: "patch", sub: "status", name: name})
	}
	whole := auditText(lines...)
	want, _, err := readText(t, whole)
	require.NoError(t, err)
	servers := []string{"", ""}
	for i, line := range strings.SplitAfter(whole, "\n") {
		if line != "" {
			servers[i%2] += strings.Replace(line, `{"kind"`, fmt.Sprintf(`{"auditID":"%d","kind"`, i), 1)
		}
	}
	for _, spillBytes = range []int{old, 2000} {
		for _, parts := range [][]string{{servers[0] + servers[1]}, {servers[1] + servers[0]}, {servers[0], servers[1]}, {servers[1], servers[0], servers[1]}} {
			var traces []*Trace
			for _, part := range parts {
				trace, err := Open(auditFile(t, part))
				require.NoError(t, err)
				traces = append(traces, trace)
			}
			merged := Merge(traces...)
			var got []string
			for {
				record, err := merged.NextRecord()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				got = append(got, fmt.Sprintf("%s %s/%s@%s", record.Type, record.Namespace, record.Name, record.ResourceVersion))
			}
			require.Equal(t, brief(want), got)
			if len(parts) == 3 {
				require.Equal(t, map[string]int{"entries given twice": 30}, traces[0].Stats().Skipped)
			}
			for _, trace := range traces {
				require.NoError(t, trace.Close())
			}
		}
	}
}

// Log services and container runtimes wrap what an API server writes.
func TestAuditWrapped(t *testing.T) {
	text := auditText(auditLine{verb: "create", name: "a", code: 201}, auditLine{verb: "get", uri: "/" + strings.Repeat("long", 20)}, auditLine{verb: "patch", sub: "status", name: "a"})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	quoted := func(s string) string { return string(appendJSON(nil, s)) }
	each := func(format func(i int, line string) string) (all string) {
		for i, line := range lines {
			all += format(i, line)
		}
		return all
	}
	for name, wrapped := range map[string]string{
		"an array":     "[" + strings.Join(lines, ",\n") + "]",
		"an EventList": `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[` + strings.Join(lines, ",") + "]}",
		"Azure": each(func(_ int, l string) string {
			return `{"time":"t","category":"kube-audit","properties":{"log":` + quoted(l) + `,"stream":"stdout","pod":"p"}}` + "\n"
		}),
		"Azure, several":        `{"records":[` + strings.TrimSuffix(each(func(_ int, l string) string { return `{"properties":{"log":` + quoted(l) + `}},` }), ",") + "]}",
		"Azure's query":         each(func(_ int, l string) string { return `{"Category":"kube-audit","log_s":` + quoted(l) + `}` }),
		"CloudWatch":            `{"events":[` + strings.TrimSuffix(each(func(_ int, l string) string { return `{"timestamp":1,"message":` + quoted(l) + `},` }), ",") + `],"searchedLogStreams":[]}`,
		"CloudWatch to Kinesis": `{"messageType":"DATA_MESSAGE","logEvents":[` + strings.TrimSuffix(each(func(_ int, l string) string { return `{"id":"1","message":` + quoted(l) + `},` }), ",") + "]}",
		"CloudWatch's query":    `{"results":[` + strings.TrimSuffix(each(func(_ int, l string) string { return `[{"field":"@message","value":` + quoted(l) + `}],` }), ",") + "]}",
		"aws logs tail": each(func(_ int, l string) string {
			return "2026-01-01T00:00:00.000000+00:00 kube-apiserver-audit-0 " + l + "\n"
		}),
		"Elasticsearch":     each(func(_ int, l string) string { return `{"_index":"i","_source":` + l + "}\n" }),
		"Splunk":            each(func(_ int, l string) string { return `{"preview":false,"result":{"_raw":` + quoted(l) + "}}\n" }),
		"node-logs":         each(func(_ int, l string) string { return "master-0.example.com " + l + "\n" }),
		"among other lines": "I0101 00:00:00.000000 1 server.go:1] starting\n" + each(func(_ int, l string) string { return l + "\nW0101 a {\"warning\" of two\n" }),
		"Docker": `{"log":"I0101 starting\n","stream":"stderr","time":"t"}` + each(func(_ int, l string) string {
			return fmt.Sprintf(`{"log":%s,"stream":"stdout","time":"t"}{"log":%s,"stream":"stdout","time":"t"}`+"\n", quoted(l[:100]), quoted(l[100:]+"\n"))
		}),
		"CRI": "2026-01-01T00:00:00Z stderr F I0101 starting\n" + each(func(_ int, l string) string {
			return "2026-01-01T00:00:00Z stdout P " + l[:100] + "\n2026-01-01T00:00:00Z stderr F W0101 noise\n2026-01-01T00:00:00Z stdout P " + l[100:200] + "\n2026-01-01T00:00:00Z stdout F " + l[200:] + "\n"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			events, stats, err := readText(t, wrapped)
			require.NoError(t, err)
			require.Equal(t, []string{"ADDED n/a@1", "MODIFIED n/a@2"}, brief(events))
			require.Equal(t, map[string]int{"reads": 1}, stats.Skipped)
		})
	}
	for text, want := range map[string]string{
		`{"AuditId":"x","Stage":"ResponseComplete"}`:                         "x.json:1: document 1: found rows of Azure's table AKSAudit, expected audit events; convert with jq -c ",
		`{"protoPayload":{"@type":"x"}}`:                                     "x.json:1: document 1: found Google Cloud's own audit log",
		`{"log":"I0101 starting\n","stream":"s"}`:                            `x.json:1: document 1: found a document with neither "object" nor "kind", expected a watch event or an object`,
		text + `{"kind":"Pod","apiVersion":"v1"}`:                            "x.json:4: document 4: found a Pod among the entries of an audit log",
		eventJSON("ADDED", podJSON("a", 1)) + text:                           "x.json:1: document 2: found an entry of an audit log among watch events",
		"time,message\n" + `t,"{""apiVersion"":""audit.k8s.io/v1""}"` + "\n": "x.json:2: found an audit event behind other text, expected it as JSON up to the line's end: invalid JSON: invalid character 'a' after object key",
	} {
		_, _, err := readText(t, text)
		require.ErrorContains(t, err, want, text)
	}
}
