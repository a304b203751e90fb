package block

import (
	"bytes"
	"fmt"
	"io"
)

// A Reader yields the rows of a file in order.
type Reader struct {
	source  io.Reader
	end     int64 // of the last whole block
	block   int   // the number of the block under way, from 1
	payload bytes.Buffer
	rows    rows
	last    Span // of the block under way
}

// NewReader checks the start of a file.
func NewReader(source io.Reader) (*Reader, error) {
	r := &Reader{source: source}
	begin := make([]byte, fileHeader)
	if _, err := io.ReadFull(source, begin); err != nil {
		return nil, cut(err, "the file ends within its header")
	}
	if string(begin[:len(Magic)]) != Magic {
		return nil, fmt.Errorf("found %q, expected a recording in the compact format", begin)
	}
	if v := begin[len(Magic)]; v != Version {
		return nil, fmt.Errorf("found version %d of the compact format, expected version %d", v, Version)
	}
	r.end = int64(fileHeader)
	return r, nil
}

// Block returns the number of the block that the last row came from, from 1.
func (r *Reader) Block() int { return r.block }

// Next returns the next row, io.EOF after the last, or an error that names the
// block. One that wraps ErrCut says that the file ends within a block; the
// blocks before it were delivered.
func (r *Reader) Next() (Row, error) {
	for r.rows.left == 0 {
		h, err := r.header()
		if err != nil {
			return Row{}, err
		}
		if r.rows, err = r.open(h); err != nil {
			return Row{}, err
		}
	}
	row, err := r.rows.next()
	if err != nil {
		return Row{}, r.located(err)
	}
	return row, nil
}

// located puts the block before an error, and behind it where to go on.
func (r *Reader) located(err error) error {
	return fmt.Errorf("block %d: %w", r.block, err)
}

// header reads the next block's header; io.EOF at the index.
func (r *Reader) header() (header, error) {
	r.block++
	data := make([]byte, blockHeader)
	n, err := io.ReadFull(r.source, data[:4])
	if err == nil && string(data[:4]) == indexMagic {
		return header{}, io.EOF
	}
	if n == 0 && err == io.EOF {
		return header{}, cut(io.EOF, fmt.Sprintf("the file ends after block %d, without its index", r.block-1))
	}
	if err == nil {
		_, err = io.ReadFull(r.source, data[4:])
	}
	if err != nil {
		return header{}, r.located(cut(err, "the file ends within it"))
	}
	h, err := parseHeader(data)
	if err != nil {
		return header{}, r.located(err)
	}
	h.span.Offset = r.end
	r.last = h.span
	return h, nil
}

// open reads the block behind a header.
func (r *Reader) open(h header) (rows, error) {
	r.payload.Reset()
	if _, err := io.CopyN(&r.payload, r.source, int64(h.payload)); err != nil {
		return rows{}, r.located(cut(err, "the file ends within it"))
	}
	opened, err := h.open(r.payload.Bytes(), r.rows.memory)
	if err != nil {
		return rows{}, r.located(err)
	}
	r.end += int64(blockHeader + h.payload)
	return opened, nil
}

// cut turns the end of the input into ErrCut; others pass.
func cut(err error, problem string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: %w", problem, ErrCut)
	}
	return err
}

// Spans returns the index of a file, nil if it has none (it was cut).
func Spans(file io.ReaderAt, size int64) ([]Span, error) {
	end := make([]byte, trailer)
	if size < int64(fileHeader+8+4+trailer) {
		return nil, nil
	}
	if _, err := file.ReadAt(end, size-trailer); err != nil {
		return nil, err
	}
	offset := int64(little.Uint64(end))
	length := size - trailer - offset
	if string(end[8:]) != endMagic || offset < int64(fileHeader) || length < 12 || (length-12)%indexEntry != 0 || length > 1<<30 {
		return nil, nil
	}
	data := make([]byte, length)
	if _, err := file.ReadAt(data, offset); err != nil {
		return nil, err
	}
	entries := data[8 : length-4]
	if string(data[:4]) != indexMagic || checksum(data[:length-4]) != little.Uint32(data[length-4:]) || int(little.Uint32(data[4:])) != len(entries)/indexEntry {
		return nil, nil
	}
	spans := make([]Span, len(entries)/indexEntry)
	for i := range spans {
		e := entries[i*indexEntry:]
		spans[i] = Span{Offset: int64(little.Uint64(e)), First: int64(little.Uint64(e[8:])), Last: int64(little.Uint64(e[16:])), Events: int(little.Uint32(e[24:]))}
	}
	return spans, nil
}

// Seek makes the reader go on at a block of the index of its file.
func (r *Reader) Seek(file io.ReadSeeker, spans []Span, block int) error {
	if _, err := file.Seek(spans[block].Offset, io.SeekStart); err != nil {
		return err
	}
	r.source, r.end, r.block, r.rows.left = file, spans[block].Offset, block, 0
	return nil
}
