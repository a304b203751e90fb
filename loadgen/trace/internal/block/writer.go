package block

import (
	"errors"
	"io"
	"os"
)

// A Writer appends rows to a file. What was flushed survives a crash.
type Writer struct {
	file    *os.File
	offset  int64
	spans   []Span
	pending pending
	err     error // of the file, for good
}

// Create writes the start of a new file. It refuses to overwrite one.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f}
	if err := w.append(append([]byte(Magic), Version)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return w, nil
}

// Resume goes on behind the last whole block of a file and returns the number
// of bytes behind it that were thrown away: a cut block. The index is written
// anew in any case.
func Resume(path string) (*Writer, int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, err
	}
	w := &Writer{file: f}
	dropped, err := w.resume()
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, err
	}
	return w, dropped, nil
}

func (w *Writer) resume() (dropped int64, err error) {
	r, err := NewReader(w.file)
	if err != nil {
		return 0, err
	}
	whole := true
	for {
		h, err := r.header()
		if err == nil {
			_, err = r.open(h)
		}
		if err == io.EOF {
			break
		}
		if errors.Is(err, ErrCut) {
			whole = false
			break
		}
		if err != nil {
			return 0, err
		}
		w.spans = append(w.spans, h.span)
	}
	w.offset = r.end
	size, err := w.file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if !whole {
		dropped = size - w.offset
	}
	if err := w.file.Truncate(w.offset); err != nil {
		return 0, err
	}
	_, err = w.file.Seek(w.offset, io.SeekStart)
	return dropped, err
}

// Write adds a row. The bytes are copied.
func (w *Writer) Write(row Row) error {
	if w.err != nil {
		return w.err
	}
	w.pending.add(row)
	if w.pending.full() {
		return w.Flush()
	}
	return nil
}

// Flush writes the rows that were added as a block.
func (w *Writer) Flush() error {
	if w.err != nil || w.pending.resources == nil {
		return w.err
	}
	sealed, span, err := w.pending.seal()
	if err != nil {
		w.err = err
		return err
	}
	span.Offset = w.offset
	if err := w.append(sealed); err != nil {
		return err
	}
	w.spans = append(w.spans, span)
	return nil
}

// Close writes what is left and the index.
func (w *Writer) Close() error {
	err := w.Flush()
	if err == nil {
		err = w.append(index(w.spans, w.offset))
	}
	if w.err == nil {
		w.err = errors.New("the recording was closed")
	}
	return errors.Join(err, w.file.Close())
}

func (w *Writer) append(data []byte) error {
	n, err := w.file.Write(data)
	w.offset += int64(n)
	if err != nil {
		w.err = err
	}
	return err
}

// index is the table of blocks and the trailer that says where it begins.
func index(spans []Span, offset int64) []byte {
	data := make([]byte, 8, 8+len(spans)*indexEntry+4+trailer)
	copy(data, indexMagic)
	little.PutUint32(data[4:], uint32(len(spans)))
	for _, s := range spans {
		data = little.AppendUint64(data, uint64(s.Offset))
		data = little.AppendUint64(data, uint64(s.First))
		data = little.AppendUint64(data, uint64(s.Last))
		data = little.AppendUint32(data, uint32(s.Events))
	}
	data = little.AppendUint32(data, checksum(data))
	data = little.AppendUint64(data, uint64(offset))
	return append(data, endMagic...)
}
