package loadgen

import (
	"math/bits"
	"math/rand/v2"

	"github.com/informerbench/informerbench/loadgen/randvar"
)

// A random draws from PCG, whose sequence Go fixes. What turns its 64 bits
// into numbers is here and in randvar, because the library may change its own
// way.
type random struct{ *rand.Rand }

func newRandom(seed, stream uint64) random {
	return random{rand.New(rand.NewPCG(seed, mix64(stream+0x9e3779b97f4a7c15)))}
}

// below returns a number in [0, n). Its bias, n/2^64, can't be seen.
func (r random) below(n int) int {
	high, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(high)
}

// float returns a number in [0, 1).
func (r random) float() float64 { return randvar.Float64(r.Rand) }

// exp returns a number of the exponential distribution of mean 1.
func (r random) exp() float64 { return randvar.Exp(r.Rand) }

// mix64 scrambles a number: the finalizer of SplitMix64. What belongs to an
// object for its life (its UID, say) is scrambled from its number, so that it
// can be made again at any time.
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
