package anonymize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A rewriter copies the JSON of an object and hides what is to be hidden. The
// text between values (white space, escapes) is copied as it is.
type rewriter struct {
	cipher  *cipher
	in      []byte
	pos     int
	out     []byte
	foreign bool // the kind is not Kubernetes' own
	depth   int
}

// A context is where in an object a value is.
type context struct {
	field   string // whose value it is
	names   bool   // a map whose keys are names: labels, annotations, data
	amounts bool   // quantities by resource name
	managed bool   // fieldsV1, whose keys are fields and names
	top     bool   // a field of the object itself
}

var errSyntax = errors.New("invalid JSON")

const deepest = 10_000

func (w *rewriter) value(c context) error {
	if w.depth++; w.depth > deepest {
		return fmt.Errorf("more than %d levels", deepest)
	}
	defer func() { w.depth-- }()
	w.space()
	switch w.peek() {
	case '{':
		return w.object(c)
	case '[':
		return w.array(c)
	case '"':
		s, raw, err := w.text()
		if err == nil {
			w.quote(raw, s, w.hideValue(c, s))
		}
		return err
	}
	begin := w.pos
	for w.pos < len(w.in) && !strings.ContainsRune(",]} \t\r\n", rune(w.in[w.pos])) {
		w.pos++
	}
	if begin == w.pos {
		return errSyntax
	}
	w.out = append(w.out, w.in[begin:w.pos]...)
	return nil
}

func (w *rewriter) object(c context) error {
	w.take()
	for first := true; ; first = false {
		if more, err := w.more('}', first); !more {
			return err
		}
		key, raw, err := w.text()
		if err != nil {
			return err
		}
		w.quote(raw, key, w.hideKey(c, key))
		if w.space(); w.peek() != ':' {
			return errSyntax
		}
		w.take()
		if err := w.value(c.enter(key, w.depth == 1)); err != nil {
			return err
		}
	}
}

// more takes what is before a member, or the end of an object or array.
func (w *rewriter) more(end byte, first bool) (bool, error) {
	w.space()
	switch {
	case w.peek() == end:
		w.take()
		return false, nil
	case first:
		return true, nil
	case w.peek() != ',':
		return false, errSyntax
	}
	w.take()
	w.space()
	return true, nil
}

func (w *rewriter) array(c context) error {
	w.take()
	for first := true; ; first = false {
		if more, err := w.more(']', first); !more {
			return err
		}
		if err := w.value(c); err != nil {
			return err
		}
	}
}

// enter returns the context of a field's value.
func (c context) enter(key string, top bool) context {
	if c.managed {
		name := strings.TrimPrefix(key, "f:")
		return context{field: name, managed: true, names: slices.Contains(nameMaps, name), amounts: slices.Contains(amountMaps, name)}
	}
	if c.names || c.amounts { // the values of a map of names
		return context{field: "", amounts: c.amounts}
	}
	return context{
		field: key, top: top, managed: key == "fieldsV1",
		names: slices.Contains(nameMaps, key), amounts: slices.Contains(amountMaps, key),
	}
}

// hideKey returns what to call a key of a map.
func (w *rewriter) hideKey(c context, key string) string {
	if c.managed {
		return w.hideManaged(c, key)
	}
	switch {
	case words[key]:
		return key
	case c.names || c.amounts || !fields()[key]:
		return w.cipher.hide(key)
	}
	return key
}

// hideManaged returns what to call a key of managedFields: "f:" and a field or
// a name, "k:" and the keys of a list's item as JSON, "v:" and its value, "i:" and
// an index.
func (w *rewriter) hideManaged(c context, key string) string {
	kind, rest, ok := strings.Cut(key, ":")
	switch {
	case key == "." || kind == "i" && strings.Trim(rest, "-0123456789") == "":
		return key
	case kind == "f":
		return "f:" + w.hideKey(context{names: c.names, amounts: c.amounts}, rest)
	case !ok || kind != "k" && kind != "v":
		return w.cipher.hide(key)
	}
	inner := rewriter{cipher: w.cipher, in: []byte(rest)}
	if inner.value(context{}) != nil || inner.pos != len(rest) {
		return kind + ":" + w.cipher.hide(rest)
	}
	return kind + ":" + string(inner.out)
}

var (
	quantity = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$`)
	version  = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
)

// hideValue returns what a string becomes.
func (w *rewriter) hideValue(c context, s string) string {
	switch {
	case s == "" || words[s]:
		return s
	case c.field == "resourceVersion" && strings.Trim(s, "0123456789") == "" || c.amounts && quantity.MatchString(s):
		return s
	case isTime(s):
		return s
	case c.field == "apiVersion" || c.field == "kind":
		return w.hideType(c, s)
	}
	if s[0] <= '9' && len(s) <= 20 {
		if m := quantity.FindStringSubmatch(s); m != nil { // in an unknown place it stays one
			return w.cipher.hide(m[1]) + m[2]
		}
	}
	return w.cipher.hide(s)
}

// hideType hides groups and kinds that are not Kubernetes' own; those of owner
// references and the like may be any.
func (w *rewriter) hideType(c context, s string) string {
	group, v, grouped := strings.Cut(s, "/")
	switch {
	case c.top && !w.foreign, kinds()[s], version.MatchString(s):
		return s
	case c.field == "apiVersion" && grouped && version.MatchString(v) && groups()[group]:
		return s
	case c.field == "apiVersion" && grouped && version.MatchString(v):
		return w.cipher.hide(group) + "/" + v
	}
	return w.cipher.hide(s)
}

func isTime(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[10] != 'T' {
		return false
	}
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}

func (w *rewriter) peek() byte {
	if w.pos < len(w.in) {
		return w.in[w.pos]
	}
	return 0
}

func (w *rewriter) take() {
	w.out = append(w.out, w.in[w.pos])
	w.pos++
}

func (w *rewriter) space() {
	for w.pos < len(w.in) && strings.IndexByte(" \t\r\n", w.in[w.pos]) >= 0 {
		w.take()
	}
}

// text takes a string and returns it, and as it was written.
func (w *rewriter) text() (s string, raw []byte, err error) {
	if w.peek() != '"' {
		return "", nil, errSyntax
	}
	begin := w.pos
	for w.pos++; w.pos < len(w.in) && w.in[w.pos] != '"'; w.pos++ {
		if w.in[w.pos] == '\\' {
			w.pos++
		}
	}
	if w.pos >= len(w.in) {
		return "", nil, errSyntax
	}
	w.pos++
	raw = w.in[begin:w.pos]
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), raw, nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", nil, errSyntax
	}
	return s, raw, nil
}

// quote writes a string that replaces another, character for character, with
// the escapes that the other was written with, so that the length stays.
func (w *rewriter) quote(raw []byte, old, hidden string) {
	if old == hidden {
		w.out = append(w.out, raw...)
		return
	}
	if len(raw) == len(hidden)+2 && !strings.ContainsAny(hidden, "\"\\") {
		w.out = append(append(append(w.out, '"'), hidden...), '"')
		return
	}
	w.out = append(w.out, '"')
	raw = raw[1:]
	for _, r := range hidden {
		n := 1 // of the old character as written
		switch {
		case raw[0] == '\\' && raw[1] != 'u':
			n = 2
			w.out = append(w.out, raw[:2]...) // punctuation, which stays
			raw = raw[n:]
			continue
		case raw[0] == '\\':
			n = 6
			if r > 0xffff {
				n = 12
			}
			w.out = appendEscaped(w.out, r)
		default:
			_, n = utf8.DecodeRune(raw)
			w.out = utf8.AppendRune(w.out, r)
		}
		raw = raw[n:]
	}
	w.out = append(w.out, '"')
}

// appendEscaped writes a character as \uXXXX, one beyond the basic plane as two.
func appendEscaped(to []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(to, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
	}
	return fmt.Appendf(to, `\u%04x`, r)
}
