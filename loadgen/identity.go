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

func (id identity) uid(birth uint32) types.UID {
	n := 2 * uint64(birth)
	return newUID(id.hash(n), id.hash(n+1))
}

// suffixAlphabet is what the API server builds generated names from: no vowels
// and nothing that looks like one.
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"

// suffix writes the low digits of n in the alphabet of generated names.
func suffix(n, digits int) string {
	b := make([]byte, digits)
	for i := range b {
		b[i] = suffixAlphabet[n%len(suffixAlphabet)]
		n /= len(suffixAlphabet)
	}
	return string(b)
}

// nameSuffix returns the random-looking end of an object's name, unique in its resource.
func nameSuffix(birth uint32) string {
	const prime = 6_700_417 // not a multiple of 3, so that n -> n*prime is one to one modulo 27^digits
	n, digits, size := int(birth), 5, 27*27*27*27*27
	for n >= size {
		n, digits, size = n-size, digits+1, size*27
	}
	return suffix(n*prime%size, digits)
}

// newUID makes a version 4 UUID of random numbers.
func newUID(high, low uint64) types.UID {
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
	return types.UID(b[:])
}
