// Package block reads and writes recordings in the compact format (format.md
// in package trace): JSON lines in zstd frames, which stock tools read.
//
//  1. block.go lays out a block: lines in, a frame that tools skip and a frame
//     of compressed lines out, and back.
//  2. writer.go appends blocks to a file, and can go on with one that was cut.
//  3. reader.go is the lines of a file, from any time on.
package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Magic begins every file: a frame that zstd skips, of headerBody bytes, with
// the format's name in it.
const Magic = "\x50\x2a\x4d\x18\x28\x00\x00\x00ibtrace2"

// Old began files of the format before.
const Old = "ibtrace\x01"

const (
	frameHead  = 8
	headerBody = 40
	headerSize = frameHead + headerBody

	target  = 8 << 20  // bytes of lines after which a block is closed
	largest = 80 << 20 // a block of one object of the largest size
)

// None is the time of a line that has none.
const None = math.MinInt64

var (
	// ErrCut is wrapped by errors of a file that ends too soon.
	ErrCut = errors.New("cut short")

	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	little     = binary.LittleEndian
)

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(target), zstd.WithEncoderConcurrency(1))
})

var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest), zstd.WithDecoderMaxWindow(2*target))
})

// A header says what the next frame holds. One without a frame ends a file.
type header struct {
	payload     int   // length of the frame
	first, last int64 // least and greatest time, None without any
	checksum    uint32
	events      int
}

func (h header) bytes() []byte {
	b := make([]byte, headerSize)
	copy(b, Magic)
	little.PutUint32(b[16:], uint32(h.payload))
	little.PutUint32(b[20:], uint32(h.events))
	little.PutUint64(b[24:], uint64(h.first))
	little.PutUint64(b[32:], uint64(h.last))
	little.PutUint32(b[40:], h.checksum)
	little.PutUint32(b[44:], checksum(b[:44]))
	return b
}

func parseHeader(b []byte) (header, error) {
	if string(b[:len(Magic)]) != Magic || checksum(b[:44]) != little.Uint32(b[44:]) {
		return header{}, errors.New("damaged: the checksum of its header is wrong")
	}
	h := header{
		payload: int(little.Uint32(b[16:])), events: int(little.Uint32(b[20:])),
		first: int64(little.Uint64(b[24:])), last: int64(little.Uint64(b[32:])), checksum: little.Uint32(b[40:]),
	}
	if h.payload > 2*largest || h.payload < 0 {
		return header{}, errors.New("damaged: it claims to be larger than a block can be")
	}
	return h, nil
}

// open decompresses a block's lines into the memory of into.
func (h header) open(payload, into []byte) ([]byte, error) {
	if checksum(payload) != h.checksum {
		return nil, errors.New("damaged: its checksum is wrong")
	}
	z, err := decoder()
	if err != nil {
		return nil, err
	}
	lines, err := z.DecodeAll(payload, into[:0])
	if err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return lines, nil
}
