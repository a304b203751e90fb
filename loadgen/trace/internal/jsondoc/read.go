package jsondoc

import (
	"errors"
	"io"
)

const (
	block = 256 << 10
	// largest is the most that one object may take; etcd's limit is 1.5 MB.
	largest = 64 << 20
)

var errTooLarge = errors.New("an object of more than 64 MiB")

// A window is the part of the input in memory: from what is held, or else the
// read position, to what was read last.
type window struct {
	source io.Reader
	err    error // the source's last word
	buf    []byte
	pos    int // next byte
	from   int // first byte held, -1 if none
	line   int // of pos
	last   int // line of the last byte that is not white space
}

func newWindow(source io.Reader) window {
	return window{source: source, from: -1, line: 1, last: 1}
}

// hold keeps the input from here on until release.
func (w *window) hold() { w.from = w.pos }

func (w *window) release() { w.from = -1 }

// held returns the number of bytes held up to here.
func (w *window) held() int { return w.pos - w.from }

// bytes returns the first n bytes held.
func (w *window) bytes(n int) []byte { return w.buf[w.from : w.from+n : w.from+n] }

// fill reads more. It keeps the bytes from keep on, or from the first one held
// if that is before, and returns by how much they moved to the front.
func (w *window) fill(keep int) (moved int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.from >= 0 {
		keep = min(keep, w.from)
	}
	if len(w.buf)-keep > largest {
		return 0, errTooLarge
	}
	kept := w.buf[keep:]
	if free := cap(w.buf) - len(kept); free < block {
		w.buf = append(make([]byte, 0, 2*len(kept)+2*block), kept...)
	} else {
		w.buf = w.buf[:copy(w.buf[:cap(w.buf)], kept)]
	}
	w.pos -= keep
	if w.from >= 0 {
		w.from -= keep
	}
	for range 100 {
		n, err := w.source.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		w.err = err
		if n > 0 {
			return keep, nil
		}
		if err != nil {
			return keep, err
		}
	}
	w.err = io.ErrNoProgress
	return keep, w.err
}

// Buffered returns the memory that the window takes, in bytes.
func (w *window) Buffered() int { return cap(w.buf) }
