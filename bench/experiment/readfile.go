package experiment

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// maxRecord bounds a run.json, or another record that is read whole. One of a
// full run has some ten megabytes.
const maxRecord = 64 << 20

// maxValues bounds the values of a record, each of which can take a hundred bytes of
// memory: "{}," is an empty sample of a schedule. A written sample has four in some
// 165 bytes, so that maxRecord is reached first: 2.3 million are a hundred times the
// sample's run.json, half a million would refuse what a run of a night wrote.
const maxValues = 1 << 21

// maxPlanned bounds the cases of a plan with their arms, and the machines of a merged
// run, each of which takes hundreds of bytes. The sample's run.json has 18 cases with
// 88 arms.
const maxPlanned = 1 << 16

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
	if err == nil {
		err = checkPlanned(b)
	}
	return b, err
}

// checkPlanned counts without making cases of what may be millions. What is no JSON
// is left to the caller.
func checkPlanned(b []byte) error {
	var outline struct {
		Plan     struct{ Cases caseCount }
		Machines count
	}
	_ = json.Unmarshal(b, &outline)
	if n := int(outline.Plan.Cases) + int(outline.Machines); n > maxPlanned {
		return fmt.Errorf("found %d cases, arms and machines, expected at most %d", n, maxPlanned)
	}
	return nil
}

// A count adds up the elements of a list, and of one that repeats its key.
type count int

func (n *count) UnmarshalJSON(b []byte) error {
	var list []struct{}
	_ = json.Unmarshal(b, &list)
	*n += count(len(list))
	return nil
}

// A caseCount is a count of cases with their arms.
type caseCount int

func (n *caseCount) UnmarshalJSON(b []byte) error {
	var list []struct{ Arms count }
	_ = json.Unmarshal(b, &list)
	for _, c := range list {
		*n += 1 + caseCount(c.Arms)
	}
	return nil
}

// Unpack reads a file that may be gzipped and is to be held whole, of at most so many
// bytes.
func Unpack(r io.Reader, most int) ([]byte, error) {
	in := bufio.NewReader(r)
	var unpacked io.Reader = in
	if begin, _ := in.Peek(2); string(begin) == "\x1f\x8b" {
		var err error
		if unpacked, err = gzip.NewReader(in); err != nil {
			return nil, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("unpacks to more than %d MiB, expected at most that", most>>20)
	}
	return data, err
}

// ReadJSON decodes a file that [ReadFile] takes.
func ReadJSON(path string, into any) error {
	b, err := ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// ReadFile is [ReadRecord] of a path.
func ReadFile(path string) ([]byte, error) {
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
