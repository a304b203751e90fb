package jsondoc

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestReaderEntries(t *testing.T) {
	text := `{"ts":"T1","type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","x":{"kind":"no"}}}
{"type":"ADDED","object":{"apiVersion":"v1","items":[
  {"kind":"Pod","apiVersion":"v1","items":[1]},
  {}],"kind":"PodList"}}
{ "kind": "Node", "apiVersion": "v1",
  "type": "Normal" }
{"kind":"ServiceList","apiVersion":"v1","items":[{}]}`
	want := []Entry{
		{Document: 1, Line: 1, Event: true, Type: "MODIFIED", Time: "T1", APIVersion: "v1", Kind: "Pod", Raw: []byte(`{"kind":"Pod","apiVersion":"v1","x":{"kind":"no"}}`)},
		{Document: 2, Line: 3, Event: true, Type: "ADDED", APIVersion: "v1", Kind: "Pod", Raw: []byte(`{"kind":"Pod","apiVersion":"v1","items":[1]}`)},
		{Document: 2, Line: 4, Event: true, Type: "ADDED", APIVersion: "v1", Raw: []byte(`{}`)}, // the list's kind comes too late
		{Document: 3, Line: 5, Type: "Normal", APIVersion: "v1", Kind: "Node", Raw: []byte("{ \"kind\": \"Node\", \"apiVersion\": \"v1\",\n  \"type\": \"Normal\" }")},
		{Document: 4, Line: 7, Type: "ADDED", APIVersion: "v1", Kind: "Service", Raw: []byte(`{}`)},
	}
	for name, source := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text))} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(source)
			for _, w := range want {
				entry, err := r.Next()
				require.NoError(t, err)
				require.Equal(t, w, entry)
			}
			_, err := r.Next()
			require.Equal(t, io.EOF, err)
		})
	}
}

// One object can't take all memory, however the input is broken.
func TestReaderLimitsAnObject(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"type":"ADDED","object":{"kind":"`), &letters{left: 2 * largest})
	_, err := NewReader(endless).Next()
	require.EqualError(t, err, "document 1, line 1: an object of more than 64 MiB")
}

type letters struct{ left int }

func (l *letters) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), l.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	l.left -= n
	return n, nil
}

func TestDescribe(t *testing.T) {
	object := []byte(`{"metadata":{"labels":{"name":"no"},"name":"a\"b","namespace":"n","resourceVersion":"7"},"kind":"Pod","spec":{"metadata":{}},"apiVersion":"v1"} `)
	want := Entry{Line: 1, APIVersion: "v1", Kind: "Pod", Namespace: "n", Name: `a"b`, Version: "7", Raw: object}
	r := NewReader(nil)
	for range 2 {
		entry, err := r.Describe(object)
		require.NoError(t, err)
		require.Equal(t, want, entry)
	}
	fromLine, err := NewReader(strings.NewReader(`{"resource":"pods","object":` + string(object) + `}`)).Next()
	require.NoError(t, err)
	want.Document, want.Event, want.Resource, want.Raw = 1, true, "pods", fromLine.Raw
	require.Equal(t, want, fromLine)

	for text, problem := range map[string]string{
		"":             "line 1: the object is empty",
		"7":            "line 1: found '7', expected a JSON document, which begins with '{'",
		"{}{}":         "line 1: found '{' after the object",
		`{"kind":"P`:   "line 1: the file ends within a JSON document",
		"{\n\"a\"\n1}": "line 3: invalid JSON: found '1', expected ':'",
	} {
		_, err := r.Describe([]byte(text))
		require.EqualError(t, err, problem, "%q", text)
	}
}
