//go:build !unix

package probe

import "time"

// processUsage is for systems that benchrun swap does not measure on.
func processUsage() (time.Duration, int64) { return 0, 0 }
