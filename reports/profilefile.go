package reports

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

// What is read of a stored profile at most. A profile of a benchmark unpacks to
// well under a megabyte; a few hundred kilobytes of gzip can unpack to gigabytes,
// and a byte of a message to a hundred of memory.
const maxProfileBytes, maxProfileFields = 8 << 20, 200_000

// readProfile reads a profile that may be anybody's.
func readProfile(r io.Reader) (*profile.Profile, error) {
	in := bufio.NewReader(r)
	var unpacked io.Reader = in
	if begin, _ := in.Peek(2); string(begin) == "\x1f\x8b" {
		var err error
		if unpacked, err = gzip.NewReader(in); err != nil {
			return nil, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, maxProfileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxProfileBytes {
		return nil, fmt.Errorf("unpacks to more than %d MiB, expected at most that", maxProfileBytes>>20)
	}
	fields := 0
	for rest := data; len(rest) > 0; fields++ {
		_, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return nil, errors.New("is no profile, expected pprof's protocol buffer")
		}
		rest = rest[n:]
	}
	if fields > maxProfileFields {
		return nil, fmt.Errorf("holds %d samples, functions and places in code, expected at most %d", fields, maxProfileFields)
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}
