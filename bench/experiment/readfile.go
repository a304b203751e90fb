package experiment

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// maxRecord bounds a run.json, or another record that is read whole. One of a
// full run has some ten megabytes.
const maxRecord = 64 << 20

// maxValues bounds the values of a record, each of which can take hundreds of bytes
// of memory: "{}," is an empty case of a plan. The sample's run.json has 24,000.
const maxValues = 1 << 19

// ReadRecord reads a file that is to be held whole; one that is too large for
// that is refused.
func ReadRecord(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxRecord {
		return nil, fmt.Errorf("found %d MiB, expected at most %d MiB", info.Size()>>20, maxRecord>>20)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if n := bytes.Count(b, []byte{','}); err == nil && n > maxValues {
		err = fmt.Errorf("found %d values, expected at most %d", n, maxValues)
	}
	return b, err
}

// readFile is ReadRecord of a path.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := ReadRecord(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}
