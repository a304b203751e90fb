package reports

import (
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
	"github.com/informerbench/informerbench/bench/experiment"
	"google.golang.org/protobuf/encoding/protowire"
)

// What is read of a stored profile at most: bytes, and those of them that are no
// text. A profile of a benchmark unpacks to well under a megabyte; a few kilobytes of
// gzip can unpack to gigabytes, and a byte of a sample to hundreds of memory.
const maxProfileBytes, maxProfileNumbers = 8 << 20, 1 << 20

// stringTable is the field of a profile that has its texts.
const stringTable = 6

// readProfile reads a profile that may be anybody's.
func readProfile(r io.Reader) (*profile.Profile, error) {
	data, err := experiment.Unpack(r, maxProfileBytes)
	if err != nil {
		return nil, err
	}
	numbers := 0
	for rest := data; len(rest) > 0; {
		field, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return nil, errors.New("is no profile, expected pprof's protocol buffer")
		}
		if numbers += n; field == stringTable {
			numbers -= n - 16 // a text is a header and its bytes
		}
		rest = rest[n:]
	}
	if numbers > maxProfileNumbers {
		return nil, fmt.Errorf("has %d KiB of samples, functions and places in code, expected at most %d KiB", numbers>>10, maxProfileNumbers>>10)
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}
