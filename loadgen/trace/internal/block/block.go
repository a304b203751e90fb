// Package block reads and writes the compact format of recordings (format.md
// in package trace):
//
//  1. block.go lays out a block: rows in, compressed bytes with checksums out,
//     and back.
//  2. writer.go appends blocks to a file, and the index when it is closed; it
//     can go on with a file that was cut.
//  3. reader.go reads blocks in order, and finds one by time through the index.
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

// Magic begins every file; the byte after it is the version.
const (
	Magic   = "ibtrace"
	Version = 1
)

const (
	fileHeader  = len(Magic) + 1
	blockHeader = 40
	indexEntry  = 28
	trailer     = 16

	blockMagic = "IBLK"
	indexMagic = "IIDX"
	endMagic   = "IBTREND\n"

	target  = 8 << 20  // bytes of rows after which a block is closed
	largest = 80 << 20 // a block of one object of the largest size
)

// None is the time of a row that has none.
const None = math.MinInt64

// A Row is one record.
type Row struct {
	Time     int64 // nanoseconds since 1970, or None
	Type     byte  // the caller's code
	Resource string
	Object   []byte // valid until the next block is read
}

// A Span is what a block's header and the index say of a block.
type Span struct {
	Offset      int64 // in the file
	First, Last int64 // least and greatest time, None without any
	Events      int
}

var (
	// ErrCut is wrapped by errors of a file that ends within a block.
	ErrCut = errors.New("cut short")

	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	little     = binary.LittleEndian
)

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(target), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
})

var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largest), zstd.WithDecoderMaxWindow(2*target))
})

// A pending block collects rows. Times, types, resources and lengths are kept
// apart from the objects, because like compresses best beside like.
type pending struct {
	span      Span
	previous  int64 // time
	resources map[string]int
	names     []byte // of the resources, in order of appearance
	columns   []byte
	objects   []byte
}

func (p *pending) add(row Row) {
	if p.resources == nil {
		*p = pending{resources: map[string]int{}, span: Span{First: None, Last: None}, names: p.names[:0], columns: p.columns[:0], objects: p.objects[:0]}
	}
	index, ok := p.resources[row.Resource]
	if !ok {
		index = len(p.resources)
		p.resources[row.Resource] = index
		p.names = binary.AppendUvarint(p.names, uint64(len(row.Resource)))
		p.names = append(p.names, row.Resource...)
	}
	code := row.Type << 1
	if row.Time != None {
		code |= 1
	}
	p.columns = append(p.columns, code)
	if row.Time != None {
		if p.span.First == None {
			p.span.First, p.span.Last = row.Time, row.Time
		}
		p.columns = binary.AppendVarint(p.columns, row.Time-p.previous)
		p.previous = row.Time
		p.span.First, p.span.Last = min(p.span.First, row.Time), max(p.span.Last, row.Time)
	}
	p.columns = binary.AppendUvarint(p.columns, uint64(index))
	p.columns = binary.AppendUvarint(p.columns, uint64(len(row.Object)))
	p.objects = append(p.objects, row.Object...)
	p.span.Events++
}

func (p *pending) full() bool { return len(p.objects)+len(p.columns) >= target }

// seal returns the block's bytes and empties it.
func (p *pending) seal() ([]byte, Span, error) {
	rows := binary.AppendUvarint(nil, uint64(len(p.resources)))
	rows = append(rows, p.names...)
	rows = binary.AppendUvarint(rows, uint64(len(p.columns)))
	rows = append(rows, p.columns...)
	rows = append(rows, p.objects...)
	span := p.span
	p.resources = nil
	if len(rows) > largest {
		return nil, span, fmt.Errorf("an object of more than %d MiB", largest>>20-target>>20)
	}
	z, err := encoder()
	if err != nil {
		return nil, span, err
	}
	sealed := z.EncodeAll(rows, make([]byte, blockHeader, blockHeader+len(rows)/8))
	payload := sealed[blockHeader:]
	copy(sealed, blockMagic)
	little.PutUint32(sealed[4:], uint32(len(payload)))
	little.PutUint32(sealed[8:], uint32(len(rows)))
	little.PutUint32(sealed[12:], uint32(span.Events))
	little.PutUint64(sealed[16:], uint64(span.First))
	little.PutUint64(sealed[24:], uint64(span.Last))
	little.PutUint32(sealed[32:], checksum(payload))
	little.PutUint32(sealed[36:], checksum(sealed[:36]))
	return sealed, span, nil
}

// A header is the fixed part of a block.
type header struct {
	span          Span
	payload, rows int // lengths
	checksum      uint32
}

func parseHeader(h []byte) (header, error) {
	if string(h[:4]) != blockMagic || checksum(h[:36]) != little.Uint32(h[36:]) {
		return header{}, errors.New("damaged: the checksum of its header is wrong")
	}
	parsed := header{
		payload: int(little.Uint32(h[4:])), rows: int(little.Uint32(h[8:])), checksum: little.Uint32(h[32:]),
		span: Span{Events: int(little.Uint32(h[12:])), First: int64(little.Uint64(h[16:])), Last: int64(little.Uint64(h[24:]))},
	}
	if parsed.rows > largest || parsed.payload > 2*largest {
		return header{}, errors.New("damaged: it claims to be larger than a block can be")
	}
	return parsed, nil
}

// open decompresses a block; the rows use the memory of into.
func (h header) open(payload, into []byte) (rows, error) {
	if checksum(payload) != h.checksum {
		return rows{}, errors.New("damaged: its checksum is wrong")
	}
	z, err := decoder()
	if err != nil {
		return rows{}, err
	}
	raw, err := z.DecodeAll(payload, into[:0])
	if err != nil {
		return rows{}, fmt.Errorf("damaged: %w", err)
	}
	r := rows{memory: raw, rest: raw, left: h.span.Events}
	names, ok := r.uvarint()
	if !ok || len(raw) != h.rows || names > uint64(len(raw)) {
		return rows{}, errMalformed
	}
	for range names {
		name, ok := r.bytes()
		if !ok {
			return rows{}, errMalformed
		}
		r.resources = append(r.resources, string(name))
	}
	columns, ok := r.bytes()
	if !ok {
		return rows{}, errMalformed
	}
	r.objects, r.rest = r.rest, columns
	return r, nil
}

var errMalformed = errors.New("damaged: its contents don't fit its header")

// rows are the rows of a block, taken from the front.
type rows struct {
	memory, rest, objects []byte
	resources             []string
	previous              int64
	left                  int
}

func (r *rows) next() (Row, error) {
	if len(r.rest) == 0 {
		return Row{}, errMalformed
	}
	code := r.rest[0]
	r.rest = r.rest[1:]
	row := Row{Time: None, Type: code >> 1}
	if code&1 != 0 {
		delta, n := binary.Varint(r.rest)
		if n <= 0 {
			return Row{}, errMalformed
		}
		r.rest = r.rest[n:]
		r.previous += delta
		row.Time = r.previous
	}
	resource, ok := r.uvarint()
	length, ok2 := r.uvarint()
	if !ok || !ok2 || resource >= uint64(len(r.resources)) || length > uint64(len(r.objects)) {
		return Row{}, errMalformed
	}
	row.Resource = r.resources[resource]
	row.Object, r.objects = r.objects[:length:length], r.objects[length:]
	r.left--
	return row, nil
}

func (r *rows) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return 0, false
	}
	r.rest = r.rest[n:]
	return v, true
}

func (r *rows) bytes() ([]byte, bool) {
	n, ok := r.uvarint()
	if !ok || n > uint64(len(r.rest)) {
		return nil, false
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b, true
}
