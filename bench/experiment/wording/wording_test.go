package wording

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCount(t *testing.T) {
	assert.Equal(t, "0 cases", Count(0, "case"))
	assert.Equal(t, "1 case", Count(1, "case"))
	assert.Equal(t, "12 cases", Count(12, "case"))
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0%", 0.0004: "0%", -0.0004: "0%", 0.034: "3.4%", 0.05: "5%", 0.123: "12.3%", -0.05: "-5%", 0.95: "95%", 0.9996: "100%", 1.006: "100.6%",
		10: "1000%", 10.1: "over 1000%", math.Inf(1): None, math.NaN(): None,
	} {
		assert.Equal(t, want, Percent(share), "%v", share)
	}
}

func TestTimes(t *testing.T) {
	for ratio, want := range map[float64]string{
		0: None, -1: None, math.NaN(): None, math.Inf(1): None, 0.0123: "0.012×", 0.1: "0.10×", 1.196: "1.20×", 9.949: "9.95×", 9.951: "10.0×", 99.6: "100×",
	} {
		assert.Equal(t, want, Times(ratio), "%v", ratio)
	}
}
