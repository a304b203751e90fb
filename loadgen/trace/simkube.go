package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/loadgen/trace/internal/jsondoc"
)

// simKubeVersion is the one version of SimKube's traces that is read.
const simKubeVersion = 2

// simKube reads a trace of SimKube (https://simkube.dev): a msgpack map
// {version, config, events, index, pod_lifecycles}, whose events are {ts in
// seconds, applied_objs, deleted_objs}. Applied objects are MODIFIED, which
// becomes ADDED for new ones. SimKube keeps no resource versions: objects get
// one that counts up. The life cycles of pods name no pod and are skipped.
type simKube struct {
	in       budget
	decoder  *msgpack.Decoder
	describe *jsondoc.Reader
	skips    map[string]int

	// What is left of the levels of the document that are open.
	fields, events, eventFields, objects int

	versioned bool
	event     int // under way, from 1
	ts        time.Time
	kind      watch.EventType
	resource  uint64 // version
}

func isMsgpackMap(c byte) bool {
	return msgpcode.IsFixedMap(c) || c == msgpcode.Map16 || c == msgpcode.Map32
}

func newSimKube(in *bufio.Reader) (source, error) {
	s := &simKube{in: budget{Reader: in}, describe: jsondoc.NewReader(nil), skips: map[string]int{}}
	s.decoder = msgpack.NewDecoder(&s.in)
	s.in.left = largestObject
	var err error
	s.fields, err = s.decoder.DecodeMapLen()
	return s, s.fault(err)
}

func (s *simKube) skipped() map[string]int { return s.skips }

func (s *simKube) next() (Record, error) {
	for {
		s.in.left = largestObject
		var err error
		switch {
		case s.objects > 0:
			s.objects--
			return s.object()
		case s.eventFields > 0:
			s.eventFields--
			err = s.eventField()
		case s.events > 0:
			s.events--
			s.event++
			s.ts = time.Time{}
			s.eventFields, err = s.decoder.DecodeMapLen()
		case s.fields > 0:
			s.fields--
			err = s.field()
		case !s.versioned:
			err = fmt.Errorf("found no version, expected a SimKube trace of version %d", simKubeVersion)
		default:
			return Record{}, io.EOF
		}
		if err != nil {
			return Record{}, s.fault(err)
		}
	}
}

// fault says where an error happened, and turns an early end into ErrCut.
func (s *simKube) fault(err error) error {
	if err == nil {
		return nil
	}
	place := "SimKube trace"
	if s.event > 0 {
		place = "event " + strconv.Itoa(s.event)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: the file ends within it: %w", place, ErrCut)
	}
	return fmt.Errorf("%s: %w", place, err)
}

func (s *simKube) field() error {
	name, err := s.decoder.DecodeString()
	if err != nil {
		return err
	}
	switch name {
	case "version":
		version, err := s.decoder.DecodeInt64()
		if err == nil && version != simKubeVersion {
			err = fmt.Errorf("found version %d, expected version %d", version, simKubeVersion)
		}
		s.versioned = true
		return err
	case "events":
		if !s.versioned {
			return fmt.Errorf("found no version before the events, expected version %d", simKubeVersion)
		}
		s.events, err = s.decoder.DecodeArrayLen()
		return err
	case "pod_lifecycles":
		n, err := s.decoder.DecodeMapLen()
		if err != nil || n <= 0 {
			return err
		}
		s.skips["owners whose pods' life cycles name no pod"] += n
		for range 2 * n {
			s.in.left = largestObject
			if _, err := s.value(nil, discard, 0); err != nil {
				return err
			}
		}
		return nil
	}
	_, err = s.value(nil, discard, 0)
	return err
}

func (s *simKube) eventField() error {
	name, err := s.decoder.DecodeString()
	if err != nil {
		return err
	}
	switch name {
	case "ts":
		seconds, err := s.decoder.DecodeInt64()
		if err != nil {
			return err
		}
		s.ts, err = inRange(time.Unix(seconds, 0))
		return err
	case "applied_objs", "deleted_objs":
		if s.kind = watch.Modified; name == "deleted_objs" {
			s.kind = watch.Deleted
		}
		if s.objects, err = s.decoder.DecodeArrayLen(); s.objects > 0 && s.ts.IsZero() {
			return fmt.Errorf("found %s without ts before it", name)
		}
		return err
	}
	_, err = s.value(nil, discard, 0)
	return err
}

func (s *simKube) object() (Record, error) {
	s.resource++
	object, err := s.value(nil, whole, 0)
	if err != nil {
		return Record{}, s.fault(err)
	}
	entry, err := s.describe.Describe(object)
	if err != nil {
		return Record{}, s.fault(fmt.Errorf("found an object that is not a map with a kind: %w", err))
	}
	record := describe(entry)
	record.Time, record.Recorded, record.place = s.ts, s.kind, place{part: "event " + strconv.Itoa(s.event)}
	return record, nil
}

// What value does with what it reads.
type output int

const (
	discard  output = iota
	plain           // append it as JSON
	whole           // plain, and the value is an object
	metadata        // plain, and the value is an object's metadata
)

const deepest = 100 // levels of a value

// value reads a value and appends it to the JSON.
func (s *simKube) value(to []byte, o output, depth int) ([]byte, error) {
	if depth > deepest {
		return to, fmt.Errorf("found a value of more than %d levels", deepest)
	}
	c, err := s.decoder.PeekCode()
	if err != nil {
		return to, err
	}
	switch {
	case isMsgpackMap(c):
		return s.mapping(to, o, depth)
	case msgpcode.IsFixedArray(c) || c == msgpcode.Array16 || c == msgpcode.Array32:
		n, err := s.decoder.DecodeArrayLen()
		to = append(to, '[')
		for i := 0; i < n && err == nil; i++ {
			if i > 0 {
				to = append(to, ',')
			}
			to, err = s.value(to, min(o, plain), depth+1)
		}
		return append(to, ']'), err
	case msgpcode.IsString(c) || msgpcode.IsBin(c):
		text, err := s.decoder.DecodeString()
		return appendJSON(to, text), err
	case msgpcode.IsExt(c) || msgpcode.IsFixedExt(c):
		return to, errors.New("found a msgpack extension, expected plain values")
	}
	return s.scalar(to, c)
}

func (s *simKube) scalar(to []byte, c byte) ([]byte, error) {
	switch c {
	case msgpcode.Nil:
		return append(to, "null"...), s.decoder.DecodeNil()
	case msgpcode.True, msgpcode.False:
		b, err := s.decoder.DecodeBool()
		return strconv.AppendBool(to, b), err
	case msgpcode.Float, msgpcode.Double:
		f, err := s.decoder.DecodeFloat64()
		if err == nil && f-f != 0 {
			err = fmt.Errorf("found the number %v, which JSON does not have", f)
		}
		return strconv.AppendFloat(to, f, 'g', -1, 64), err
	case msgpcode.Uint64:
		u, err := s.decoder.DecodeUint64()
		return strconv.AppendUint(to, u, 10), err
	}
	i, err := s.decoder.DecodeInt64()
	return strconv.AppendInt(to, i, 10), err
}

func (s *simKube) mapping(to []byte, o output, depth int) ([]byte, error) {
	n, err := s.decoder.DecodeMapLen()
	if err != nil {
		return to, err
	}
	to = append(to, '{')
	if o == metadata {
		to = fmt.Appendf(to, `"resourceVersion":"%d"`, s.resource)
		if n > 0 {
			to = append(to, ',')
		}
	}
	for i := range n {
		if i > 0 {
			to = append(to, ',')
		}
		inner := min(o, plain)
		if o == discard {
			_, err = s.value(nil, discard, depth+1)
		} else {
			var key string
			key, err = s.decoder.DecodeString()
			if to = append(appendJSON(to, key), ':'); o == whole && key == "metadata" {
				inner = metadata
			}
		}
		if err != nil {
			return to, err
		}
		if o == discard {
			to = to[:0]
		}
		if to, err = s.value(to, inner, depth+1); err != nil {
			return to, err
		}
	}
	return append(to, '}'), nil
}

// largestObject is the most that one object may take, as in JSON.
const largestObject = 64 << 20

// A budget stops a reader that would read too much for one value.
type budget struct {
	*bufio.Reader
	left int
}

var errBudget = fmt.Errorf("found a value of more than %d MiB", largestObject>>20)

func (b *budget) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errBudget
	}
	return n, err
}

func (b *budget) ReadByte() (byte, error) {
	if b.left--; b.left < 0 {
		return 0, errBudget
	}
	return b.Reader.ReadByte()
}
