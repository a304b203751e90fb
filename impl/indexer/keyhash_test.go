package indexer

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKeyHash flips every bit of keys of all lengths, and expects about half the
// bits of the hash to change, and the hash always.
func TestKeyHash(t *testing.T) {
	k := newKeyHash()
	flips, changed := 0, 0
	for n := range 70 {
		key := strings.Repeat("a", n)
		h := k.of(key)
		require.Equal(t, h, k.of(strings.Clone(key)))
		require.NotEqual(t, h, k.of(key+"a"), "%d bytes and one more, secrets %x", n, *k)
		require.NotEqual(t, h, newKeyHash().of(key), "%d bytes, other secrets than %x", n, *k)
		for i := range 8 * n {
			b := []byte(key)
			b[i/8] ^= 1 << (i % 8)
			other := k.of(string(b))
			require.NotEqual(t, h, other, "%d bytes, bit %d flipped, secrets %x", n, i, *k)
			flips++
			changed += bits.OnesCount64(h ^ other)
		}
	}
	assert.InDelta(t, 32, float64(changed)/float64(flips), 1, "bits that change, secrets %x", *k)
}

// TestKeyHashSpreads hashes keys as controllers have them and expects no part of
// the hash that chooses a place to be uneven: chi square, eight deviations.
func TestKeyHashSpreads(t *testing.T) {
	const n = 64_000
	k := newKeyHash()
	var stripes, tags, homes [64]int
	table := slotTable{n: 64}
	for i := range n {
		h := k.of(fmt.Sprintf("team-%d/web-%06d-x7k2p", i/1000, i))
		stripes[h>>(64-6)]++
		tags[tagOf(h)%64]++
		homes[table.home(h)]++
	}
	for part, counts := range map[string][64]int{"stripe": stripes, "tag": tags, "home": homes} {
		chi := 0.0
		for _, c := range counts {
			chi += float64((c-n/64)*(c-n/64)) / (n / 64)
		}
		assert.Less(t, chi, 63+8*11.3, "%s, secrets %x", part, *k)
	}
}
