package search

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two digits are two digits in JSON, too.
func TestTidyQPS(t *testing.T) {
	for digits := 10; digits < 100; digits++ {
		for _, decade := range []string{"e-3", "e-2", "e-1", "e0", "e1", "e2", "e3"} {
			want, err := strconv.ParseFloat(strconv.Itoa(digits)+decade, 64)
			require.NoError(t, err)
			assert.Equal(t, want, Tidy(0.999*want, 1e9))
			assert.Equal(t, want, Tidy(want, 1e9))
		}
	}
}
