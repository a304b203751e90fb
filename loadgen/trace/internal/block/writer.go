package block

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Writer appends lines to a file. What was flushed survives a crash.
type Writer struct {
	file  *os.File
	lines []byte // of the block under way
	next  header // of it
	err   error  // of the file, for good
}

// Create begins a new file. It refuses to overwrite one.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &Writer{file: f, next: header{first: None, last: None}}, nil
}

// Resume goes on behind the last whole block of a file and returns the number
// of bytes behind it that were thrown away: a cut block.
func Resume(path string) (*Writer, int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, err
	}
	w := &Writer{file: f, next: header{first: None, last: None}}
	dropped, err := w.resume()
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, err
	}
	return w, dropped, nil
}

func (w *Writer) resume() (dropped int64, err error) {
	r := NewReader(bufio.NewReader(w.file))
	_, err = io.Copy(io.Discard, r)
	if err != nil && !errors.Is(err, ErrCut) {
		return 0, err
	}
	size, sizeErr := w.file.Seek(0, io.SeekEnd)
	if sizeErr != nil {
		return 0, sizeErr
	}
	if err != nil {
		dropped = size - r.end
	}
	if err := w.file.Truncate(r.end); err != nil {
		return 0, err
	}
	_, err = w.file.Seek(r.end, io.SeekStart)
	return dropped, err
}

// Write adds a line, which has its line feed, and its time in nanoseconds since
// 1970, or None.
func (w *Writer) Write(line []byte, time int64) error {
	if w.err != nil {
		return w.err
	}
	w.lines = append(w.lines, line...)
	w.next.events++
	if time != None {
		if w.next.first == None {
			w.next.first, w.next.last = time, time
		}
		w.next.first, w.next.last = min(w.next.first, time), max(w.next.last, time)
	}
	if len(w.lines) >= target {
		return w.Flush()
	}
	return nil
}

// Flush writes the lines that were added as a block.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.lines) == 0 {
		return w.err
	}
	if len(w.lines) > largest {
		w.err = fmt.Errorf("found an object of more than %d MiB", largest>>20-target>>20)
		return w.err
	}
	z, err := encoder()
	if err != nil {
		return err
	}
	block := z.EncodeAll(w.lines, make([]byte, headerSize, headerSize+len(w.lines)/8))
	payload := block[headerSize:]
	w.next.payload, w.next.checksum = len(payload), checksum(payload)
	copy(block, w.next.bytes())
	w.lines, w.next = w.lines[:0], header{first: None, last: None}
	return w.append(block)
}

// Close writes what is left and the end.
func (w *Writer) Close() error {
	err := w.Flush()
	if err == nil {
		err = w.append(header{first: None, last: None}.bytes())
	}
	if w.err == nil {
		w.err = errors.New("the recording was closed")
	}
	return errors.Join(err, w.file.Close())
}

func (w *Writer) append(data []byte) error {
	_, err := w.file.Write(data)
	if err != nil {
		w.err = err
	}
	return err
}
