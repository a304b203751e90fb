package tune

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The rate of keys that change unlike each other is the one with which as many are
// added as were.
func TestRateOfUnlikeKeys(t *testing.T) {
	s := system{name: "hot keys", rate: 30, service: exponentially(0.1), mean: 0.1, workers: 6, keys: 200, unlike: 1}
	d := s.run(1, 3000).delta(t)
	q := d.Queues["q"]
	f := newFit(d, q, clientGo.current(s.given(), q), Options{Keys: s.keys, Seed: 1}, false)
	assert.InEpsilon(t, 30, f.rateOfUnlike(200, 1), 0.03)
	assert.Less(t, f.rateOfUnlike(200, 0.1), 0.97*30, "alike, fewer are added to keys that wait")
	assert.Zero(t, f.rateOfUnlike(200, 5), "one key alone is not added as often")
}
