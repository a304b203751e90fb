package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// However many there were, what is kept are some thousand at even distances.
func TestPairsAreKeptAtEvenDistances(t *testing.T) {
	for _, n := range []int{1, mostPairs, mostPairs + 1, 50_000} {
		var p pairs
		for i := range n {
			p.add(Pair{Service: time.Duration(i)})
		}
		every := max(1, p.every)
		assert.LessOrEqual(t, len(p.list), mostPairs)
		assert.Equal(t, (n+every-1)/every, len(p.list), "%d kept one of %d", n, every)
		for i, x := range p.list {
			assert.Equal(t, time.Duration(i*every), x.Service)
		}
	}
}
