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
		{1, 1, true, "MODIFIED", "T1", "v1", "Pod", []byte(`{"kind":"Pod","apiVersion":"v1","x":{"kind":"no"}}`)},
		{2, 3, true, "ADDED", "", "v1", "Pod", []byte(`{"kind":"Pod","apiVersion":"v1","items":[1]}`)},
		{2, 4, true, "ADDED", "", "v1", "", []byte(`{}`)}, // the list's kind comes too late
		{3, 5, false, "Normal", "", "v1", "Node", []byte("{ \"kind\": \"Node\", \"apiVersion\": \"v1\",\n  \"type\": \"Normal\" }")},
		{4, 7, false, "ADDED", "", "v1", "Service", []byte(`{}`)},
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
