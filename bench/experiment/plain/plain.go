// Package plain keeps what somebody else has named from giving commands to
// whoever reads it: names from clusters and files may hold terminal escapes,
// overrides of the writing direction, or line ends that begin a line of their own.
//
// Every command writes through a Writer, every report through Text, and what is
// to stay on one line, such as a name in a table or a log, through Line. JSON
// keeps all its contents: JSON escapes them.
package plain

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// instead stands for a character that is not shown.
const instead = '?'

// commands are characters that tell a terminal, a browser or an editor to do
// something, or show nothing: controls, formats such as U+202E, Unicode's own line
// ends, and what is ignored by default, such as U+034F.
func commands(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Text replaces the characters that are commands, but for line ends and tabs, and what
// is no UTF-8: a terminal may take its bytes for controls.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, commands) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if commands(r) {
			return instead
		}
		return r
	}, s)
}

// Line is Text on one line: line ends are replaced too, and tabs, which lines of go
// test hold, are spaces.
func Line(s string) string {
	return strings.NewReplacer("\n", string(instead), "\t", " ").Replace(Text(s))
}

// JSON escapes the characters that are commands in a JSON text, where they stand
// in strings alone.
func JSON(b []byte) []byte {
	if bytes.IndexFunc(b, commands) < 0 {
		return b
	}
	var out bytes.Buffer
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case !commands(r) || r == '\r':
			out.Write(b[:size])
		case r > 0xffff:
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		b = b[size:]
	}
	return out.Bytes()
}

// A Writer passes text on as Text or JSON makes it.
type Writer struct {
	to   io.Writer
	json bool
	part []byte // of a character that the last Write ended in
}

// NewWriter returns a Writer to w, or w if it is one.
func NewWriter(w io.Writer) *Writer {
	if known, ok := w.(*Writer); ok {
		return known
	}
	return &Writer{to: w}
}

// NewJSONWriter returns a Writer of JSON texts to w, or to what w writes to.
func NewJSONWriter(w io.Writer) *Writer { return &Writer{to: Unwrap(w), json: true} }

// Write holds back a character that p ends in the middle of.
func (w *Writer) Write(p []byte) (int, error) {
	text := append(w.part, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if last := text[len(text)-back]; utf8.RuneStart(last) {
			if !utf8.FullRune(text[len(text)-back:]) {
				whole = len(text) - back
			}
			break
		}
	}
	w.part = bytes.Clone(text[whole:])
	if w.json {
		text = JSON(text[:whole])
	} else {
		text = []byte(Text(string(text[:whole])))
	}
	if _, err := w.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unwrap is what a Writer writes to, or w where it is none: for a program's own
// commands to the terminal, and for what is no text.
func Unwrap(w io.Writer) io.Writer {
	if known, ok := w.(*Writer); ok {
		return known.to
	}
	return w
}
