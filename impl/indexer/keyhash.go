package indexer

import (
	"math/bits"
	"math/rand/v2"
)

// A keyHash hashes keys with secrets of its own, so that nobody can make keys
// that collide. It folds 128-bit products, as wyhash does and Go's maps do where
// there are no AES instructions. For keys as short as objects' it takes half as
// long as hash/maphash, whose calls cost more than its work; that is a fifth of
// a Get.
type keyHash [4]uint64

func newKeyHash() *keyHash {
	k := &keyHash{}
	k.init()
	return k
}

// init takes new secrets.
func (k *keyHash) init() {
	for i := range k {
		k[i] = rand.Uint64()
	}
}

func (k *keyHash) of(s string) uint64 {
	n := uint64(len(s))
	if n <= 16 {
		var x, y uint64
		switch {
		case n >= 8:
			x, y = word(s), word(s[n-8:])
		case n >= 4:
			x, y = half(s), half(s[n-4:])
		case n > 0:
			x = uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1])
		}
		return fold(fold(x^k[0], y^k[1]^n)^k[2], k[3])
	}
	end := s[n-16:]
	h := k[0] ^ n
	for len(s) > 16 {
		h = fold(word(s)^k[1], word(s[8:])^h)
		s = s[16:]
	}
	return fold(fold(word(end)^k[2], word(end[8:])^k[3])^k[0], h^k[1])
}

func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// word and half are the first bytes of s, which the compiler loads at once.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func half(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
