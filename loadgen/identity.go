package loadgen

import (
	"k8s.io/apimachinery/pkg/types"
)

// An identity makes what belongs to an object for its life, from the number of
// its birth alone.
type identity struct{ seed, resource uint64 }

func (id identity) hash(n uint64) uint64 {
	return mix64(mix64(id.seed+0x9e3779b97f4a7c15*(id.resource+1)) + 0x9e3779b97f4a7c15*n)
}

func (id identity) uid(birth uint32) types.UID { return types.UID(id.appendUID(nil, birth)) }

func (id identity) appendUID(b []byte, birth uint32) []byte {
	n := 2 * uint64(birth)
	return appendUID(b, id.hash(n), id.hash(n+1))
}

// suffixAlphabet is what the API server builds generated names from: no vowels
// and nothing that looks like one.
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"

// appendSuffix writes the low digits of n in the alphabet of generated names.
func appendSuffix(b []byte, n uint64, digits int) []byte {
	for range digits {
		b = append(b, suffixAlphabet[n%uint64(len(suffixAlphabet))])
		n /= uint64(len(suffixAlphabet))
	}
	return b
}

func suffix(n uint64, digits int) string { return string(appendSuffix(nil, n, digits)) }

// appendNameSuffix writes the random-looking end of an object's name, unique in
// its resource.
func appendNameSuffix(b []byte, birth uint32) []byte {
	const prime = 6_700_417 // not a multiple of 3, so that n -> n*prime is one to one modulo 27^digits
	n, digits, size := uint64(birth), 5, uint64(27*27*27*27*27)
	for n >= size {
		n, digits, size = n-size, digits+1, size*27
	}
	return appendSuffix(b, n*prime%size, digits)
}

func nameSuffix(birth uint32) string { return string(appendNameSuffix(nil, birth)) }

// newUID makes a version 4 UUID of random numbers.
func newUID(high, low uint64) types.UID { return types.UID(appendUID(nil, high, low)) }

func appendUID(to []byte, high, low uint64) []byte {
	const hex = "0123456789abcdef"
	high = high&^0xf000 | 0x4000
	low = low&^(0xc<<60) | 0x8<<60
	var b [36]byte
	for i := len(b) - 1; i >= 0; i-- {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			b[i] = '-'
		case i > 18:
			b[i] = hex[low&15]
			low >>= 4
		default:
			b[i] = hex[high&15]
			high >>= 4
		}
	}
	return append(to, b[:]...)
}
