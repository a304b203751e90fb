package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// next skips white space and returns the byte after it without taking it.
func (r *Reader) next() (byte, error) {
	r.last = r.line
	for {
		for r.pos < len(r.buf) {
			switch c := r.buf[r.pos]; c {
			case '\n':
				r.line++
			case ' ', '\t', '\r':
			default:
				return c, nil
			}
			r.pos++
		}
		// One byte is kept for expect's look back at the start of a line.
		if _, err := r.fill(max(0, r.pos-1)); err != nil {
			return 0, err
		}
	}
}

// must is next within a document, where the input may not end.
func (r *Reader) must() (byte, error) {
	c, err := r.next()
	if err != nil {
		return 0, r.ended(err)
	}
	return c, nil
}

// ended says that the input ended within a document. The input's own errors
// (a gzip stream cut short) pass through.
func (r *Reader) ended(err error) error {
	if err == errTooLarge {
		return r.fault("%v", err)
	}
	if errors.Is(err, io.EOF) {
		return &Error{Document: r.documents, Line: r.line, Problem: "the file ends within a JSON document", Ended: true}
	}
	return err
}

// expect takes the byte c if it is the wanted one.
func (r *Reader) expect(c, wanted byte) error {
	if c == wanted {
		r.pos++
		return nil
	}
	if c == '{' && r.pos > 0 && r.buf[r.pos-1] == '\n' {
		return r.cut(r.last)
	}
	return r.fault("invalid JSON: found %s, expected %s", show(c), show(wanted))
}

// cut says that a document ended early, since another begins after it: nobody
// prints an opening brace at the start of a line within an object.
func (r *Reader) cut(line int) error {
	return &Error{Document: r.documents, Line: line, Problem: "the JSON document is cut short, another one begins on line " + strconv.Itoa(r.line)}
}

// members takes the object at the read position. It calls visit with each key
// and the first byte of its value; visit takes the value. If visit says stop,
// members returns within the object.
func (r *Reader) members(visit func(key string, c byte) (stop bool, err error)) error {
	r.pos++ // the brace
	c, err := r.must()
	if err != nil {
		return err
	}
	if c == '}' {
		r.pos++
		return nil
	}
	for {
		stop, err := r.member(c, visit)
		if err != nil || stop {
			return err
		}
		var more bool
		if c, more, err = r.comma(); err != nil || !more {
			return err
		}
	}
}

// moreMembers is members from behind a value on.
func (r *Reader) moreMembers(visit func(key string, c byte) (bool, error)) error {
	for {
		c, more, err := r.comma()
		if err != nil || !more {
			return err
		}
		if _, err := r.member(c, visit); err != nil {
			return err
		}
	}
}

// comma takes the separator, or the end of the object, after a member. It
// returns the byte after the separator.
func (r *Reader) comma() (c byte, more bool, err error) {
	if c, err = r.must(); err != nil {
		return 0, false, err
	}
	if c == '}' {
		r.pos++
		return 0, false, nil
	}
	if err = r.expect(c, ','); err != nil {
		return 0, false, err
	}
	c, err = r.must()
	return c, true, err
}

func (r *Reader) member(c byte, visit func(key string, c byte) (bool, error)) (bool, error) {
	if c != '"' {
		return false, r.expect(c, '"')
	}
	raw, err := r.str()
	if err != nil {
		return false, err
	}
	key := r.intern(raw)
	if c, err = r.must(); err != nil {
		return false, err
	}
	if err = r.expect(c, ':'); err != nil {
		return false, err
	}
	if c, err = r.must(); err != nil {
		return false, err
	}
	return visit(key, c)
}

// text takes a value and stores it if it is a string; others leave "", for the
// reader of the entry to complain about.
func (r *Reader) text(c byte, to *string) error {
	if c != '"' {
		return r.skip(c)
	}
	raw, err := r.str()
	if err == nil {
		*to = r.intern(raw)
	}
	return err
}

// freshText is text for values that rarely repeat.
func (r *Reader) freshText(c byte, to *string) error {
	if c != '"' {
		return r.skip(c)
	}
	raw, err := r.str()
	if err == nil {
		*to = unquote(raw)
	}
	return err
}

// intern returns the contents of a quoted string, allocated once.
func (r *Reader) intern(quoted []byte) string {
	if s, ok := r.names[string(quoted)]; ok {
		return s
	}
	s := unquote(quoted)
	if len(r.names) < 1000 && len(s) < 100 { // bounded whatever the file holds
		r.names[string(quoted)] = s
	}
	return s
}

func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return string(quoted)
	}
	return s
}

// str takes a string and returns it with its quotes, valid until more is read.
func (r *Reader) str() ([]byte, error) {
	start, at := r.pos, r.pos+1
	for {
		i := bytes.IndexByte(r.buf[at:], '"')
		end := at + i
		if i < 0 {
			end = len(r.buf)
		}
		if bytes.IndexByte(r.buf[at:end], '\n') >= 0 {
			return nil, r.fault("the JSON document is cut short: the line ends within a string")
		}
		if i < 0 {
			at = end
			moved, err := r.fill(start)
			start, at = start-moved, at-moved
			if err != nil {
				return nil, r.ended(err)
			}
			continue
		}
		at = end + 1
		escapes := 0
		for r.buf[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			r.pos = at
			return r.buf[start:at], nil
		}
	}
}

// special marks the bytes that skip looks at.
var special = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true, '\n': true}

// skip takes the value that begins with c at the read position.
func (r *Reader) skip(c byte) error {
	switch c {
	case '"':
		_, err := r.str()
		return err
	case '{', '[':
		return r.skipNested()
	}
	for n := 0; ; n++ {
		if r.pos == len(r.buf) {
			if _, err := r.fill(r.pos); err != nil {
				return r.ended(err)
			}
		}
		switch c := r.buf[r.pos]; c {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			if n == 0 {
				return r.fault("invalid JSON: found %s, expected a value", show(c))
			}
			return nil
		case '{', '[', '"', ':':
			return r.fault("invalid JSON: found %s within a value", show(c))
		}
		r.pos++
	}
}

func (r *Reader) skipNested() error {
	depth := 0
	for {
		for r.pos < len(r.buf) {
			c := r.buf[r.pos]
			if !special[c] {
				r.pos++
				continue
			}
			switch c {
			case '"':
				if _, err := r.str(); err != nil {
					return err
				}
				continue
			case '{', '[':
				if c == '{' && depth > 0 && r.pos > 0 && r.buf[r.pos-1] == '\n' {
					return r.cut(r.line - 1)
				}
				depth++
			case '}', ']':
				depth--
			case '\n':
				r.line++
			}
			r.pos++
			if depth == 0 {
				return nil
			}
		}
		// One byte is kept for the look back, as in next.
		if _, err := r.fill(r.pos - 1); err != nil {
			return r.ended(err)
		}
	}
}

func show(c byte) string {
	if c < 0x20 || c >= 0x7f {
		return "byte 0x" + strconv.FormatUint(uint64(c), 16)
	}
	return "'" + string(rune(c)) + "'"
}
