package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPart(t *testing.T) {
	for _, m := range mixes {
		assert.Equal(t, 10_000, m.part(10_000, 100), m.name)
		assert.Equal(t, 5900, m.part(10_000, 59), m.name)
		assert.Equal(t, 100, m.part(100, 100), m.name)
	}
	assert.Equal(t, 40+20, mixes[0].part(100, 40), "80 pods and 20 leases are numbered from 0 on")
}

// A saving is the mean over numbers of objects, however many starts there were of each.
func TestRead(t *testing.T) {
	c := comparison{Reality: map[string][]reading{
		"":      {{Percent: 100, Live: 100}, {Percent: 100, Live: 300}, {Percent: 50, Live: 100}},
		"strip": {{Percent: 100, Live: 100}, {Percent: 50, Live: 90}, {Percent: 50, Live: 90}},
	}}
	saved := c.read("strip", func(r reading) float64 { return float64(r.Live) })
	assert.InDeltaSlice(t, []float64{0.1, 0.5}, saved, 1e-9)
	assert.InDelta(t, 0.05, noise(figure{0, -0.1, 0.1}, figure{1, 1, 1}, 3), 1e-9)
}
