package tune

import (
	"testing"

	"github.com/informerbench/informerbench/bench/tune/scrape"
	"github.com/stretchr/testify/assert"
)

// Of explanations that all miss, the one that comes near stays, and not the one
// that lets nearly everything happen now and then.
func TestWhatExplainsFarWorseIsDropped(t *testing.T) {
	f := &fit{Model: &Model{wait: scrape.Histogram{Bounds: []float64{1}, Counts: []float64{50, 50}, Sum: 100}}}
	at := func(keys int) candidate { return candidate{keys: keys} }
	tried := []outcome{{score: 100, mean: 1}, {score: 7, mean: 1.1}, {score: 11, mean: 0.9}, {score: 5, mean: 3}}
	left, outcomes := f.near([]candidate{at(1), at(2), at(3), at(4)}, tried)
	assert.Equal(t, []candidate{at(2), at(3)}, left)
	assert.Len(t, outcomes, 2)
}
