package anonymize

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A cipher permutes strings so that lengths, punctuation and the class of each
// character stay: a Feistel network over each token (letters and digits in a
// row), whose halves are added to, character by character and modulo the size
// of the character's class, with a stream that HMAC-SHA256 derives from the
// other half. Each round can be undone, so that different tokens stay different
// whatever their length.
type cipher struct {
	mac   hash.Hash
	known map[string]string // tokens met, bounded
}

const (
	rounds     = 8
	knownLimit = 100_000
)

func newCipher(key Key) *cipher {
	return &cipher{mac: hmac.New(sha256.New, key), known: map[string]string{}}
}

// A class is a range of characters that stand for each other. All of a class
// have the same length in UTF-8.
type class struct{ first, size rune }

var (
	digits = class{'0', 10}
	lower  = class{'a', 26}
	upper  = class{'A', 26}
	others = []class{{0x80, 0x800 - 0x80}, {0x800, 0xd800 - 0x800}, {0xe000, 0xfffd - 0xe000}, {0x10000, 0x100000}}
)

// classOf returns the class of a character; one of size 0 stays as it is.
func classOf(r rune) class {
	switch {
	case '0' <= r && r <= '9':
		return digits
	case 'a' <= r && r <= 'z':
		return lower
	case 'A' <= r && r <= 'Z':
		return upper
	}
	for _, c := range others {
		if c.first <= r && r < c.first+c.size {
			return c
		}
	}
	return class{}
}

// address is an IPv4 address, perhaps with a port or a prefix length.
var address = regexp.MustCompile(`^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}([:/][0-9]+)?$`)

// hide permutes the tokens of a string. Addresses stay addresses.
func (c *cipher) hide(s string) string {
	var out strings.Builder
	if len(s) <= len("255.255.255.255:65535") && address.MatchString(s) {
		host, tail := s, ""
		if i := strings.IndexAny(s, ":/"); i >= 0 {
			host, tail = s[:i], s[i:]
		}
		for i, octet := range strings.Split(host, ".") {
			if i > 0 {
				out.WriteByte('.')
			}
			out.WriteString(c.octet(octet))
		}
		return out.String() + tail
	}
	for s != "" {
		n := tokenLength(s)
		if n > 0 {
			out.WriteString(c.token(s[:n]))
		} else {
			_, n = utf8.DecodeRuneInString(s)
			out.WriteString(s[:n])
		}
		s = s[n:]
	}
	return out.String()
}

// octet permutes the octets of a length among themselves: it goes on through
// the cycle of the token's permutation until it comes to one.
func (c *cipher) octet(s string) string {
	if !isOctet(s) {
		return c.token(s)
	}
	for s = c.token(s); !isOctet(s); s = c.token(s) {
	}
	return s
}

func isOctet(s string) bool {
	return len(s) == 1 || s[0] != '0' && (len(s) == 2 || s <= "255")
}

// tokenLength returns the length of the token at the start, in bytes.
func tokenLength(s string) int {
	for i, r := range s {
		if classOf(r).size == 0 {
			return i
		}
	}
	return len(s)
}

func (c *cipher) token(token string) string {
	if hidden, ok := c.known[token]; ok {
		return hidden
	}
	var classes []class
	var values []rune
	for _, r := range token {
		k := classOf(r)
		classes = append(classes, k)
		values = append(values, r-k.first)
	}
	half := len(values) / 2
	for round := range byte(rounds) {
		if round%2 == 0 {
			c.add(round, values[half:], values[:half], classes[half:])
		} else {
			c.add(round, values[:half], values[half:], classes[:half])
		}
	}
	for i := range values {
		values[i] += classes[i].first
	}
	hidden := string(values)
	if len(c.known) >= knownLimit {
		clear(c.known)
	}
	c.known[token] = hidden
	return hidden
}

// add adds a stream derived from the other half. The lengths and classes of
// both halves take part, so that tokens of another shape have another stream.
func (c *cipher) add(round byte, to, from []rune, classes []class) {
	var block [sha256.Size]byte
	for i := range to {
		if i%8 == 0 {
			c.mac.Reset()
			var head [9]byte
			head[0] = round
			binary.LittleEndian.PutUint32(head[1:], uint32(i))
			binary.LittleEndian.PutUint32(head[5:], uint32(len(to)))
			c.mac.Write(head[:])
			for _, k := range classes {
				c.mac.Write(binary.LittleEndian.AppendUint32(nil, uint32(k.first)))
			}
			for _, v := range from {
				c.mac.Write(binary.LittleEndian.AppendUint32(nil, uint32(v)))
			}
			c.mac.Sum(block[:0])
		}
		stream := rune(binary.LittleEndian.Uint32(block[i%8*4:]) % uint32(classes[i].size))
		to[i] = (to[i] + stream) % classes[i].size
	}
}
