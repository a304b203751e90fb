package block

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// A Reader is the lines of a file.
type Reader struct {
	source  *bufio.Reader
	end     int64 // of the last whole block
	block   int   // the number of the block under way, from 1
	ahead   *header
	payload bytes.Buffer
	memory  []byte
	rest    []byte // lines that were not read yet
	err     error
}

// NewReader returns the lines of what source holds.
func NewReader(source *bufio.Reader) *Reader { return &Reader{source: source} }

// Read implements io.Reader. An error that wraps ErrCut says that the file ends
// too soon; the blocks before were read.
func (r *Reader) Read(to []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err == nil {
			r.err = r.advance()
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(to, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *Reader) advance() error {
	h, err := r.header()
	if err != nil {
		return err
	}
	r.ahead = nil
	r.payload.Reset()
	if _, err := io.CopyN(&r.payload, r.source, int64(h.payload)); err != nil {
		return r.located(cut(err, "the file ends within it"))
	}
	if r.memory, err = h.open(r.payload.Bytes(), r.memory); err != nil {
		return r.located(err)
	}
	r.rest = r.memory
	r.end += int64(headerSize + h.payload)
	return nil
}

// First is the least time of the first block, None if there is none.
func (r *Reader) First() int64 {
	h, err := r.header()
	if err != nil {
		return None // who reads it says why
	}
	return h.first
}

// SkipBefore passes over the blocks of which all times are before one, without
// unpacking them, and returns the last time there; None if there is none.
func (r *Reader) SkipBefore(time int64) (last int64) {
	last = None
	for {
		h, err := r.header()
		if err != nil {
			return last // who reads it says why
		}
		if h.last == None || h.last >= time {
			return last
		}
		if _, err := r.source.Discard(h.payload); err != nil {
			r.err = r.located(cut(err, "the file ends within it"))
			return last
		}
		last = max(last, h.last)
		r.ahead = nil
		r.end += int64(headerSize + h.payload)
	}
}

// header reads the next block's header; io.EOF at the end.
func (r *Reader) header() (header, error) {
	switch {
	case r.err != nil:
		return header{}, r.err
	case r.ahead != nil:
		return *r.ahead, nil
	}
	data := make([]byte, headerSize)
	n, err := io.ReadFull(r.source, data)
	r.block++
	switch {
	case n == 0 && err == io.EOF:
		r.err = cut(io.EOF, fmt.Sprintf("the file ends after block %d, without its end", r.block-1))
	case err != nil:
		r.err = r.located(cut(err, "the file ends within it"))
	default:
		h, err := parseHeader(data)
		if err != nil {
			r.err = r.located(err)
		} else if h.payload == 0 {
			r.err = io.EOF
		}
		r.ahead = &h
	}
	if r.err != nil {
		return header{}, r.err
	}
	return *r.ahead, nil
}

func (r *Reader) located(err error) error {
	return fmt.Errorf("block %d: %w", r.block, err)
}

// cut turns the end of the input into ErrCut; others pass.
func cut(err error, problem string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: %w", problem, ErrCut)
	}
	return err
}
