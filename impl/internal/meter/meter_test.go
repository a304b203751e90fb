package meter

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSecondsIsUpstreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "any"))
		short := time.Duration(rapid.Int64Range(-1, int64(2*time.Second)).Draw(t, "short"))
		for _, d := range []time.Duration{d, short} {
			if got, want := seconds(d), d.Seconds(); got != want {
				t.Fatalf("seconds(%d) is %v, expected %v", d, got, want)
			}
		}
	})
}
