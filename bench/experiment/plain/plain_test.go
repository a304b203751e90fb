package plain

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const hostile = "pod\x1b]0;title\a\x1b[31m\u202egnp\u2066\u200b\u0085\u2028\U000e0041é\x7f"

func TestText(t *testing.T) {
	assert.Equal(t, "pod?]0;title??[31m?gnp?????é?", Text(hostile))
	assert.Equal(t, "a\n\tb", Text("a\n\tb"))
	assert.Equal(t, "a? b?", Line("a\n\tb\r"))
	assert.Equal(t, "a\ufffd31m", Text("a\x9b31m"), "a control of one byte")
	assert.Equal(t, "a?b?", Text("a\u034fb\ufe0f"), "shown as nothing")
	assert.Equal(t, "日本 ±5% → “é”", Line("日本 ±5% → “é”"))
}

// JSON says the same as before, and shows none of it.
func TestJSON(t *testing.T) {
	for _, indent := range []string{"", "\t"} {
		b, err := json.MarshalIndent(map[string]string{"name": hostile}, "", indent)
		require.NoError(t, err)
		escaped := JSON(b)
		assert.Equal(t, string(escaped), Text(string(escaped)))
		var back map[string]string
		require.NoError(t, json.Unmarshal(escaped, &back))
		assert.Equal(t, hostile, back["name"])
	}
}

func FuzzWriter(f *testing.F) {
	f.Add(hostile, 3)
	f.Add("\xe2\x80", 1)
	f.Add("\xff\xfe\xc2", 2)
	f.Fuzz(func(t *testing.T, text string, chunk int) {
		var out strings.Builder
		w := NewWriter(&out)
		for rest := text; rest != ""; {
			n := min(len(rest), max(1, chunk%7))
			written, err := w.Write([]byte(rest[:n]))
			require.NoError(t, err)
			require.Equal(t, n, written)
			rest = rest[n:]
		}
		assert.Equal(t, out.String(), Text(out.String()))
		if utf8.ValidString(text) {
			assert.Equal(t, Text(text), out.String(), "however it comes in parts")
		}
	})
}
